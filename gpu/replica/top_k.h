#pragma once

#include <cstddef>
#include <cstdint>

#include "gpu/device/device_memory.h"
#include "optim/codec.h"

namespace gv::gpu {

/// Counts in a stretch: elements above the least magnitude kept, and elements equal to it.
struct Split {
  std::uint32_t above;
  std::uint32_t ties;
};

/// The k largest of a vector by |x|, ties to the lower index, in ascending order of index: a radix
/// select of the magnitudes as integers by digits of 11, 10 and 10 bits from the top, then counts
/// per segment, whose running sum is each segment's offset in the output. Only counts are summed
/// with atomic operations: they are integers, so that the order does not matter. Reads the vector
/// six times.
/// Alabi, Blanchard, Gordon & Steinbach 2012, "Fast k-selection algorithms for graphics processing
/// units", doi:10.1145/2133803.2345676 (radix select).
class TopK {
 public:
  /// out: k elements, 1 <= k <= n < 2^32 (none if n == 0). All on the device, on `stream`; waits
  /// only if n is larger than ever before.
  void encode(const float* v, std::size_t n, std::size_t k, Kept* out, cudaStream_t stream);
  /// v (n) <- the kept elements, 0 elsewhere.
  static void decode(const Kept* in, std::size_t k, float* v, std::size_t n, cudaStream_t stream);

 private:
  void grow(std::size_t segments, cudaStream_t stream);

  DeviceArray<std::uint32_t> bins_;   ///< counts of one digit; zero between the passes
  DeviceArray<std::uint32_t> state_;  ///< [0]: bits of the least magnitude kept; [1]: ties to keep
  DeviceArray<Split> splits_;         ///< split of each segment; then sum of all earlier ones
};

}  // namespace gv::gpu
