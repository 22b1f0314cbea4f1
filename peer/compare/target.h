#pragma once

#include <optional>
#include <string>
#include <vector>

#include "peer/runs/stored_run.h"

namespace gv {

/// When a run counts as having arrived.
struct CompareTarget {
  enum class Figure : std::uint8_t { accuracy, loss };
  enum class Whose : std::uint8_t { mean, local, worst };
  Figure figure = Figure::accuracy;
  Whose whose = Whose::mean;  ///< the mean model; local: mean loss of models; worst: accuracy
  double value = 0;           ///< accuracy: at least, a fraction; loss: at most
  bool operator==(const CompareTarget&) const = default;
};

/// "accuracy=0.88", "accuracy=88%", "accuracy.worst=0.88", "loss=0.3", "loss.local=0.3". Throws
/// std::invalid_argument.
CompareTarget parse_target(const std::string& text);
/// "accuracy 0.88", "worst local accuracy 0.88", "mean loss of local models 0.3".
std::string to_string(const CompareTarget& target);
/// The target that every file names (`stop.target.accuracy`); nothing where they do not agree.
std::optional<CompareTarget> target_in_files(const std::vector<StoredRun>& runs);

/// What a run had cost when it got somewhere.
struct RunCost {
  double rounds = 0, seconds = 0, bytes = 0;
  std::optional<double> samples, epochs;
  std::optional<StateSums> states;
  double resolution = 0;  ///< rounds between the two evaluations around it; 0: it was the first
};

/// At the first evaluation that reaches the target, interpolated from the one before it along the
/// figure; of a first evaluation that is there already, its own. Nothing for a run that misses it.
std::optional<RunCost> cost_of(const StoredRun& run, const CompareTarget& target);
/// Of the whole run.
RunCost cost_of(const StoredEvaluation& e);

/// The figure of the target; nothing where it was not measured, or is not finite.
std::optional<double> figure_of(const StoredEvaluation& e, const CompareTarget& target);
/// The best that the run ever had.
std::optional<double> best_of(const StoredRun& run, const CompareTarget& target);

}  // namespace gv
