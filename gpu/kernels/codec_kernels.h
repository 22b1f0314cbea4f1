#pragma once

#include <cstddef>
#include <cstdint>

#include "gpu/device/device_memory.h"
#include "optim/codec/codec.h"

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

/// Encodes and decodes vectors on the device, with the bytes and values of optim/codec/codec.h. All
/// pointers are the device's; pointers to bytes are aligned to 4. Each call puts its kernels into
/// the stream and returns.
class Encoder {
 public:
  /// Returns whether it has kernels for the codec. random_k, sign and two_bit need a fixed order of
  /// sums or draws and run on the host.
  static bool has(const Codec& codec) { return codec.kind <= Codec::Kind::top_k; }
  /// out: codec.bytes(n).
  void encode(
      const Codec& codec, const float* v, std::size_t n, std::byte* out, cudaStream_t stream);
  /// in: an encoding of n values, already checked.
  void decode(
      const Codec& codec, const std::byte* in, float* v, std::size_t n, cudaStream_t stream);

 private:
  TopK top_k_;
};

/// An Encoder between the device and the host's memory. Its device memory grows as needed.
class Transcoder {
 public:
  /// `compute`, on which the vectors change, must outlive this.
  explicit Transcoder(const Stream& compute) : compute_(compute) {}
  /// v: on the device; out, in: on the host. Both calls wait until they are done.
  void encode(const Codec& codec, const float* v, std::size_t n, std::byte* out);
  void decode(const Codec& codec, const std::byte* in, float* v, std::size_t n);

 private:
  std::byte* room(std::size_t bytes);

  const Stream& compute_;
  Encoder encoder_;
  DeviceArray<std::byte> bytes_;
};

}  // namespace gv::gpu
