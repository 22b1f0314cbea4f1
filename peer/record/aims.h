#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "optim/models/objective.h"
#include "peer/fleet/target_spec.h"
#include "peer/record/joined_models.h"

namespace gv {

/// The aims to which the evaluations of a run are held, and what is done at its end.
struct Aims {
  std::optional<TargetSpec> target{};
  std::uint32_t patience = 0;  ///< evaluations without a better one that end the run; 0: none do
  bool keep_best = false;      ///< the model of the best evaluation is the run's, not the last one
  /// The objective that looks at the test set, where the run's evaluations do not; or null.
  std::function<std::unique_ptr<Objective>()> test{};
  /// Counts the frames that agent i has acted when it has learnt from so many samples; or null.
  std::function<std::uint64_t(std::uint32_t peer, std::uint64_t samples)> frames{};
  ModelJudge models{};  ///< of a fleet of chains; else each peer says what its own is worth
};

/// Says which evaluation was the best one, by the figure of the target, or else by the loss of the
/// fleet's model; and when too many have passed since then. L. Prechelt, "Early stopping - but
/// when?", Neural Networks: Tricks of the Trade, 1998: criterion UP, with any figure.
class ProgressWatch {
 public:
  explicit ProgressWatch(const Aims& aims);

  /// Returns what the figure is about: `value` and `in_a_row` say nothing.
  const TargetSpec& measure() const { return measure_; }
  /// Takes the next evaluation's figure; returns whether it beats every one before. One that is
  /// missing or not finite never is.
  bool see(std::optional<double> figure);
  /// Takes one of an earlier part of the run: a run that goes on has one more evaluation at least.
  void recall(std::optional<double> figure);
  std::optional<double> best() const { return best_; }
  bool out_of_patience() const { return patience_ > 0 && since_ >= patience_; }

 private:
  TargetSpec measure_;
  std::uint32_t patience_;
  std::optional<double> best_;
  std::uint32_t since_ = 0;
};

}  // namespace gv
