#pragma once

#include <cstdint>
#include <span>

#include "optim/data/packed.h"

namespace gv::gpu {

/// Minibatches drawn one before their step, so that they travel to the device while it computes.
/// What is saved knows nothing of the one drawn ahead: a checkpoint is the same as without.
class BatchesAhead {
 public:
  BatchesAhead(Minibatches batches, std::uint32_t batch);

  /// The batch of the next step; valid until step() or restore().
  std::span<const std::uint32_t> rows() const { return rows_; }
  std::span<const View> views() const { return ahead_.views(); }
  /// Is told that this step is under way: its batch counts as used, and the one after it is drawn.
  void step();

  void save(StateWriter& out) const { used_.save(out); }
  void restore(StateReader& in);

 private:
  Minibatches used_;   ///< where training stands
  Minibatches ahead_;  ///< one batch further
  std::uint32_t batch_;
  std::span<const std::uint32_t> rows_;
};

}  // namespace gv::gpu
