#pragma once

#include <cstddef>

#include "gpu/device/memory.h"

namespace gv::gpu {

/// optim/dot.h on the device, to the bit: a block to a segment, then one block for the segments'
/// sums; no atomic operation. Everything is allocated when it is made.
class Dot {
 public:
  /// Takes vectors of at most `most` elements. `compute`, on which they change, must outlive this.
  Dot(std::size_t most, const Stream& compute);
  /// sum_k a_k b_k of vectors on the device; waits for everything before.
  double of(const float* a, const float* b, std::size_t count);

 private:
  const Stream& compute_;
  DeviceArray<double> sums_;  ///< one of each segment, and the whole behind them
  PinnedArray<double> whole_;
};

}  // namespace gv::gpu
