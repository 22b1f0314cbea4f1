#pragma once

#include <cstddef>

#include "gpu/device/device_memory.h"

namespace gv::gpu {

/// optim/host/dot.h on the device, to the bit: one block per segment, then one block for the
/// segments' sums; no atomic operation. The constructor allocates everything.
class Dot {
 public:
  /// Takes vectors of at most `most` elements. `compute`, on which they change, must outlive this.
  Dot(std::size_t most, const Stream& compute);
  /// Returns sum_k a_k b_k of vectors on the device; waits for all earlier work.
  double of(const float* a, const float* b, std::size_t count);

 private:
  const Stream& compute_;
  DeviceArray<double> sums_;  ///< one per segment, then the whole
  PinnedArray<double> whole_;
};

}  // namespace gv::gpu
