#include <cstdio>
#include <string>
#include <vector>

#include "gpu/bench/measure.h"
#include "gpu/bench/tables.h"
#include "gpu/replica/codec_kernels.h"
#include "gpu/replica/dot_kernels.h"
#include "gpu/replica/vector_kernels.h"
#include "optim/rng.h"
#include "optim/stopwatch.h"

namespace gv::gpu {
namespace {

constexpr std::size_t floats = 25'600'000;  ///< parameters of a ResNet-50

void put_row(const std::string& pass, double bytes, double t, double copy) {
  const double rate = bytes / t;
  std::printf("| %s | %.3f | %.0f | %.2f |\n", pass.c_str(), t * 1e3, rate * 1e-9, rate / copy);
}

void put_level1_rows(double copy, const Stream& stream) {
  const DeviceArray<float> u(floats, "a vector");
  DeviceArray<float> v(floats, "a vector");
  const double fused =
      device_seconds(stream, 50, [&] { axpby(0.5F, u.data(), 0.5F, v.data(), floats, stream); });
  put_row("axpby", 12.0 * floats, fused, copy);
  Dot dot(floats, stream);
  const double summed =
      median_time({.seconds = 0, .least = 20}, [&] { dot.of(u.data(), v.data(), floats); }).seconds;
  put_row("dot, until the host has it", 8.0 * floats, summed, copy);
}

/// Bytes of a vector plus those of its encoding: the least that a codec must move.
void put_codec_rows(const std::string& name,
                    const Codec& codec,
                    double copy,
                    const Stream& stream) {
  std::vector<float> values(floats);
  Rng(1).fill_normal(values);
  DeviceArray<float> v(floats, "a vector");
  DeviceArray<std::byte> bytes(codec.bytes(floats), "its encoding");
  copy_async(v.data(), values.data(), floats, cudaMemcpyHostToDevice, stream);
  stream.wait();
  Encoder encoder;
  const double moved = 4.0 * floats + static_cast<double>(bytes.size());
  const auto encode = [&] { encoder.encode(codec, v.data(), floats, bytes.data(), stream); };
  put_row(name + ", encode", moved, device_seconds(stream, 20, encode), copy);
  const auto decode = [&] { encoder.decode(codec, bytes.data(), v.data(), floats, stream); };
  put_row(name + ", decode", moved, device_seconds(stream, 20, decode), copy);
}

}  // namespace

void put_level1_and_codecs() {
  const Stream stream;
  const double copy = device_copy(stream);
  std::printf("\nLevel 1 and codecs, %zu floats; copy in device memory: %.0f GB/s\n\n", floats,
              copy * 1e-9);
  std::printf("| pass | ms | GB/s | of the copy |\n|---|---|---|---|\n");
  put_level1_rows(copy, stream);
  put_codec_rows("fp16", {Codec::Kind::fp16}, copy, stream);
  put_codec_rows("bf16", {Codec::Kind::bf16}, copy, stream);
  put_codec_rows("int8", {Codec::Kind::int8}, copy, stream);
  put_codec_rows("top 1 %", {Codec::Kind::top_k, 0.01}, copy, stream);
}

}  // namespace gv::gpu
