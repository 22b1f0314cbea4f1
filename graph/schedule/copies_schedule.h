#pragma once

#include <memory>
#include <utility>

#include "graph/schedule/schedule.h"
#include "graph/topology/chain_map.h"

// Peers that hold parts of a model average with those that hold the same part of another one, as a
// map of the chains says who they are.

namespace gv {

/// A row of W among models, as it is among the peers that hold of each of them what peer i holds of
/// its own. Their order is that of the models, so that sums have the same bits.
Neighborhood among_copies(Neighborhood row, const ChainMap& chains, PeerId i);

/// A schedule of models for the peers that hold parts of them.
class CopiesSchedule final : public MixingSchedule {
 public:
  CopiesSchedule(std::shared_ptr<const MixingSchedule> models, ChainMap chains)
      : models_(std::move(models)), chains_(std::move(chains)) {}

  PeerId size() const override { return models_->size() * chains_.peers(); }
  Neighborhood row(std::uint64_t round, PeerId i) const override {
    return among_copies(models_->row(round, chains_.chain(i)), chains_, i);
  }
  bool directed() const override { return models_->directed(); }
  Neighborhood links(PeerId i) const override {
    return among_copies(models_->links(chains_.chain(i)), chains_, i);
  }
  std::uint64_t period() const override { return models_->period(); }
  std::optional<double> contraction() const override { return models_->contraction(); }
  double contraction_error() const override { return models_->contraction_error(); }

 private:
  std::shared_ptr<const MixingSchedule> models_;
  ChainMap chains_;
};

}  // namespace gv
