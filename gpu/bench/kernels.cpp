#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "gpu/bench/measure.h"
#include "gpu/kernels/codec_kernels.h"
#include "gpu/kernels/dot_kernels.h"
#include "gpu/kernels/vector_kernels.h"
#include "optim/machine/stopwatch.h"
#include "optim/rng.h"

namespace gv::gpu {
namespace {

constexpr std::size_t many = 25'600'000;  ///< parameters of a ResNet-50

StepRule rule_of(StepRule::Kind kind) {
  StepRule rule;
  rule.kind = kind;
  rule.gamma = rule.size = 1e-3F;
  rule.momentum = rule.beta1 = 0.9F;
  rule.beta2 = 0.999F;
  rule.epsilon = 1e-8F;
  rule.root = 1;
  return rule;
}

void put_kernel_row(const char* name,
                    StepRule::Kind kind,
                    std::uint32_t neighbours,
                    double copy,
                    const Stream& stream) {
  const bool first = kind != StepRule::Kind::plain;
  const bool second = has_moments(kind);
  DeviceArray<float> x(many, "x");
  DeviceArray<float> g(many, "g");
  DeviceArray<float> u(first ? many : 0, "u");
  DeviceArray<float> v(second ? many : 0, "v");
  DeviceArray<float> vectors(neighbours * many, "the neighbours' vectors");
  DeviceArray<float> weights(neighbours, "weights");
  DeviceArray<std::uint32_t> bad(neighbours, "marks");
  const Piece piece{
      .x = x.data(), .g = g.data(), .first = u.data(), .second = v.data(), .count = many};
  const Inflow in{.vectors = vectors.data(),
                  .weights = weights.data(),
                  .stride = many,
                  .n = neighbours,
                  .bad = bad.data()};
  const StepRule rule = rule_of(kind);
  const double t = device_seconds(stream, 50, [&] { mix_and_step(piece, in, rule, stream); });
  const double bytes = 4.0 * many * (3 + neighbours + (first ? 2 : 0) + (second ? 2 : 0));
  std::printf("| %s, %u neighbours | %.3f | %.0f | %.2f |\n", name, neighbours, t * 1e3,
              bytes / t * 1e-9, bytes / t / copy);
}

}  // namespace

void put_kernels() {
  const Stream stream;
  const double copy = device_copy(stream);
  std::printf("\nMixing and step in one pass, %zu parameters; copy in device memory: %.0f GB/s\n\n",
              many, copy * 1e-9);
  std::printf("| pass | ms | GB/s | of the copy |\n|---|---|---|---|\n");
  for (const std::uint32_t n : {2U, 4U}) {
    put_kernel_row("sgd", StepRule::Kind::plain, n, copy, stream);
    put_kernel_row("sgd with momentum", StepRule::Kind::momentum, n, copy, stream);
    put_kernel_row("adam", StepRule::Kind::adam, n, copy, stream);
  }
}

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
