#pragma once

#include <cstddef>

#include "gpu/device/memory.h"
#include "gpu/replica/top_k.h"
#include "optim/codec.h"

namespace gv::gpu {

/// Encodes and decodes vectors on the device: the bytes and the values of optim/codec.h. All
/// pointers are the device's, those to bytes aligned to 4; each call puts its kernels into the
/// stream and returns.
class Encoder {
 public:
  /// Returns whether it has kernels: random_k, sign and two_bit sum and draw in an order, on the
  /// host.
  static bool has(const Codec& codec) { return codec.kind <= Codec::Kind::top_k; }
  /// out: codec.bytes(n).
  void encode(
      const Codec& codec, const float* v, std::size_t n, std::byte* out, cudaStream_t stream);
  /// in: known to be an encoding of n.
  void decode(
      const Codec& codec, const std::byte* in, float* v, std::size_t n, cudaStream_t stream);

 private:
  TopK top_k_;
};

/// An Encoder from and to the host's memory. Its memory on the device grows with what it is given.
class Transcoder {
 public:
  /// `compute`, on which the vectors change, must outlive this.
  explicit Transcoder(const Stream& compute) : compute_(compute) {}
  /// v: on the device; out, in: on the host. Both return when they are done.
  void encode(const Codec& codec, const float* v, std::size_t n, std::byte* out);
  void decode(const Codec& codec, const std::byte* in, float* v, std::size_t n);

 private:
  std::byte* room(std::size_t bytes);

  const Stream& compute_;
  Encoder encoder_;
  DeviceArray<std::byte> bytes_;
};

}  // namespace gv::gpu
