#pragma once

#include <memory>

#include "graph/schedule/schedule.h"

// Peers that hold parts of a model average with those that hold the same part of another one. Part
// s of model c, of p parts, is peer c p + s.

namespace gv {

/// A row of W among models, as it is among the peers that hold part s of each of them. Their order
/// is that of the models, so that sums have the same bits.
Neighborhood among_copies(Neighborhood row, PeerId parts, PeerId s);

/// A schedule of models for the peers that hold parts of them.
class CopiesSchedule final : public MixingSchedule {
 public:
  CopiesSchedule(std::shared_ptr<const MixingSchedule> models, PeerId parts)
      : models_(std::move(models)), parts_(parts) {}

  PeerId size() const override { return models_->size() * parts_; }
  Neighborhood row(std::uint64_t round, PeerId i) const override {
    return among_copies(models_->row(round, i / parts_), parts_, i % parts_);
  }
  bool directed() const override { return models_->directed(); }
  Neighborhood links(PeerId i) const override {
    return among_copies(models_->links(i / parts_), parts_, i % parts_);
  }
  std::uint64_t period() const override { return models_->period(); }
  std::optional<double> contraction() const override { return models_->contraction(); }
  double contraction_error() const override { return models_->contraction_error(); }

 private:
  std::shared_ptr<const MixingSchedule> models_;
  PeerId parts_;
};

}  // namespace gv
