#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>

#include "optim/models/network_builder.h"
#include "tests/gpu/cases.h"

// Activations and sums that are not fused into other layers (gpu/layers/network_plan.cpp): separate
// kernels, which few models of the tree use.

namespace gv {
namespace {

struct Drawn {
  Op activation;
  std::uint64_t seed;
};

/// Returns a pool, an activation of its output, and sums of both, so that a gradient has shares of
/// an activation and of several sums; the numbers of each and the channels are drawn.
NeuralNetwork pooled(const Drawn& drawn, const Dataset& data) {
  Rng rng = Rng(drawn.seed).derive("pooled");
  NetworkBuilder build(shape_of(data.image), data.classes);
  const auto channels = static_cast<std::uint32_t>(1 + rng.below(7));
  const auto activated = [&](std::uint32_t x) {
    return drawn.activation == Op::relu ? build.relu(x) : build.gelu(x);
  };
  const std::uint32_t x = build.convolution(0, "conv", channels, {3, 1, 1}, false);
  const std::uint32_t y = activated(build.max_pool(x, {2, 2, 0}));
  std::uint32_t sum = y;
  for (std::uint64_t k = rng.below(2); k > 0; --k) sum = activated(sum);
  for (std::uint64_t k = 1 + rng.below(3); k > 0; --k) sum = build.add(sum, y);
  build.linear(sum, "fc", data.classes, true);
  return build.build();
}

std::unique_ptr<Replica> make_layer(const Implementation& on, const Drawn& drawn) {
  Share share = small_pictures(3);
  const NeuralNetwork network = pooled(drawn, *share.train);
  return on.make(network, std::move(share), {}, 8, Rng(drawn.seed));
}

/// A relu that opens by rounding changes far less than a thousandth of the largest gradient here.
TEST(LoneLayersParity, GradientsAgree) {
  GV_NEEDS_CUDA(cuda.missing());
  for (const Op activation : {Op::relu, Op::gelu})
    for (std::uint64_t seed = 1; seed <= 6; ++seed) {
      SCOPED_TRACE(testing::Message() << "seed " << seed << ", relu " << (activation == Op::relu));
      const auto on_cpu = make_layer(host, {activation, seed});
      const auto on_gpu = make_layer(cuda, {activation, seed});
      for (int step = 0; step < 3; ++step) {
        EXPECT_NEAR(loss_of_gradient(*on_gpu) / loss_of_gradient(*on_cpu), 1, 1e-5);
        const std::vector<float> ours = values(*on_gpu, Vector::g);
        const std::vector<float> theirs = values(*on_cpu, Vector::g);
        float most = 0;
        for (const float g : theirs) most = std::max(most, std::abs(g));
        ASSERT_GT(most, 0);
        for (std::size_t k = 0; k < ours.size(); ++k)
          ASSERT_NEAR(ours[k], theirs[k], 1e-3F * most) << k;
        on_cpu->step();
        on_gpu->step();
      }
    }
}

}  // namespace
}  // namespace gv
