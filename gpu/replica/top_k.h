#pragma once

#include <cstddef>
#include <cstdint>

#include "gpu/device/memory.h"
#include "optim/codec.h"

namespace gv::gpu {

/// Counts in a stretch: elements kept for certain, and those as large as the least.
struct Split {
  std::uint32_t above;
  std::uint32_t ties;
};

/// The k largest of a vector by |x|, ties to the lower index, in ascending order: a radix select of
/// the magnitudes as integers by digits of 11, 10 and 10 bits from the top, then counts per segment
/// and their running sum, which say where each segment writes. Only counts are summed with atomic
/// operations: integers, whose order does not matter. Six readings of the vector.
/// Alabi, Blanchard, Gordon & Steinbach 2012, "Fast k-selection algorithms for graphics processing
/// units", doi:10.1145/2133803.2345676 (radix select).
class TopK {
 public:
  /// out: k, 1 <= k <= n < 2^32 (nothing when n == 0). All on the device, on `stream`; waits only
  /// when n is larger than any before.
  void encode(const float* v, std::size_t n, std::size_t k, Kept* out, cudaStream_t stream);
  /// v (n) <- 0 but for what was kept.
  static void decode(const Kept* in, std::size_t k, float* v, std::size_t n, cudaStream_t stream);

 private:
  void grow(std::size_t segments, cudaStream_t stream);

  DeviceArray<std::uint32_t> bins_;   ///< of one digit; zero between the passes
  DeviceArray<std::uint32_t> state_;  ///< the least magnitude kept, as far as it is known; and how
                                      ///< many to keep of those that begin so
  DeviceArray<Split> splits_;         ///< of each segment; then of all before it
};

}  // namespace gv::gpu
