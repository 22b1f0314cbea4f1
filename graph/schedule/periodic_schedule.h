#pragma once

#include <utility>

#include "graph/schedule/schedule.h"

namespace gv {

/// A list of matrices, over and over; one matrix: a static topology.
class PeriodicSchedule final : public MixingSchedule {
 public:
  /// Takes at least one matrix, all of one size.
  explicit PeriodicSchedule(std::vector<MixingMatrix> matrices) : matrices_(std::move(matrices)) {}

  PeerId size() const override { return matrices_[0].size(); }
  Neighborhood row(std::uint64_t round, PeerId i) const override {
    return matrices_[round % matrices_.size()].row(i);
  }
  bool directed() const override { return matrices_[0].directed(); }
  std::uint64_t period() const override { return matrices_.size(); }

 private:
  std::vector<MixingMatrix> matrices_;
};

}  // namespace gv
