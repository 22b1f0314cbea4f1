#include <cstdint>
#include <cstdio>

#include "gpu/bench/measure.h"
#include "gpu/bench/tables.h"
#include "gpu/replica/vector_kernels.h"

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

}  // namespace gv::gpu
