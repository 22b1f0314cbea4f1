#pragma once

#include <cstdint>
#include <span>

#include "optim/data/packed.h"

namespace gv::gpu {

/// Minibatches drawn one step ahead, so that they travel to the device while it computes. The
/// minibatch drawn ahead is not saved: a checkpoint is the same as without drawing ahead.
class BatchesAhead {
 public:
  BatchesAhead(Minibatches batches, std::uint32_t batch);

  /// Batch of the next step; valid until step() or restore().
  std::span<const std::uint32_t> rows() const { return rows_; }
  std::span<const View> views() const { return ahead_.views(); }
  /// Counts the current batch as used and draws the next one; called when its step is under way.
  void step();

  void save(StateWriter& out) const { used_.save(out); }
  void restore(StateReader& in);

 private:
  Minibatches used_;   ///< state of training
  Minibatches ahead_;  ///< one batch ahead
  std::uint32_t batch_;
  std::span<const std::uint32_t> rows_;
};

}  // namespace gv::gpu
