#pragma once

#include <optional>

#include "peer/fleet/target_spec.h"

namespace gv {

/// Says when a fleet has reached its target: once so many evaluations in a row are there.
class TargetWatch {
 public:
  explicit TargetWatch(std::optional<TargetSpec> target) : target_(target) {}

  /// The next evaluation's figure; nothing: it has none, which ends the row.
  void see(std::optional<double> figure) {
    if (!target_ || reached_) return;
    row_ = figure && target_->holds(*figure) ? row_ + 1 : 0;
    reached_ = row_ >= target_->in_a_row;
  }
  /// Takes one of an earlier part of the run: a run that goes on has one more evaluation at least.
  void recall(std::optional<double> figure) {
    see(figure);
    if (reached_) row_ = target_->in_a_row - 1;
    reached_ = false;
  }
  bool reached() const { return reached_; }
  const std::optional<TargetSpec>& target() const { return target_; }

 private:
  std::optional<TargetSpec> target_;
  std::uint32_t row_ = 0;
  bool reached_ = false;
};

}  // namespace gv
