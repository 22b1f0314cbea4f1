#pragma once

#include <cstddef>

#include "gpu/device/device_memory.h"
#include "gpu/replica/top_k.h"
#include "optim/codec.h"

namespace gv::gpu {

/// Encodes and decodes vectors on the device, with the bytes and values of optim/codec.h. All
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
