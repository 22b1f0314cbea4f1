#include <array>
#include <cmath>
#include <span>

#include <gtest/gtest.h>

#include "peer/study/predict/calibrate/fleet_calibration.h"

namespace gv {
namespace {

/// f(x) = sum_k h_k x_k^2 / 2 + bend / 4 sum_k x_k^4, x in R^4.
struct Bowl {
  std::array<double, 4> h{30, 4, 1, 0.05};
  double bend = 0;

  Doubles gradient(const std::vector<float>& x) const {
    Doubles g(4);
    for (std::size_t k = 0; k < 4; ++k) {
      const auto v = static_cast<double>(x[k]);
      g[k] = h[k] * v + bend * v * v * v;
    }
    return g;
  }
  double loss(const std::array<double, 4>& x) const {
    double sum = 0;
    for (std::size_t k = 0; k < 4; ++k)
      sum += h[k] * x[k] * x[k] / 2 + bend * std::pow(x[k], 4) / 4;
    return sum;
  }
  /// Returns the gradient flow at time 1, pushed by p from `begin` to `end`.
  std::array<double, 4> flow(const Doubles& p,
                             double begin,
                             double end,
                             std::vector<DescentNode>* nodes = nullptr) const {
    std::array<double, 4> x{1, 1, 1, 1};
    constexpr int steps = 40000;
    for (int t = 0; t <= steps; ++t) {
      const double time = static_cast<double>(t) / steps;
      const std::vector<float> at(x.begin(), x.end());
      if (nodes != nullptr && t % (steps / 40) == 0) nodes->push_back({time, at});
      if (t == steps) break;
      for (std::size_t k = 0; k < 4; ++k) {
        const double g = h[k] * x[k] + bend * std::pow(x[k], 3);
        x[k] -= (g + (time >= begin && time < end ? p[k] : 0)) / steps;
      }
    }
    return x;
  }
};

TEST(Adjoint, HasAConstantProductWithTheGradient) {
  for (const double bend : {0.0, 2.0}) {
    const Bowl bowl{.bend = bend};
    std::vector<DescentNode> nodes;
    bowl.flow({0, 0, 0, 0}, 0, 0, &nodes);
    for (const std::size_t first : {0U, 5U, 20U}) {
      const std::span<const DescentNode> way = std::span(nodes).subspan(first);
      const AdjointPass pass(
          way, [&](const auto& x) { return bowl.gradient(x); }, 4);
      const std::array<double, 2> points{nodes[first].time, nodes[40].time};
      const AdjointPass::Backward back = pass.back_from(40 - first, points);
      EXPECT_EQ(back.at_end, bowl.gradient(nodes[40].x));
      EXPECT_NEAR(dot(back.at_start, bowl.gradient(nodes[first].x)), dot(back.at_end, back.at_end),
                  0.02 * dot(back.at_end, back.at_end))
          << first;
    }
  }
}

/// The forward check: the same descent with a small push all along its way.
TEST(Adjoint, SaysWhatAPushHasCost) {
  const Bowl bowl{.bend = 2};
  std::vector<DescentNode> nodes;
  const double without = bowl.loss(bowl.flow({0, 0, 0, 0}, 0, 0, &nodes));
  const AdjointPass pass(
      nodes, [&](const auto& x) { return bowl.gradient(x); }, 4);
  const std::array<double, 4> points{0, 0.1, 0.3, 1};
  const AdjointPass::Backward back = pass.back_from(40, points);
  for (const Doubles& push : {Doubles{0, 0.001, 0, 0}, Doubles{0, 0, 0.001, -0.002}}) {
    double expected = 0;
    for (const Doubles& integral : back.integrals) expected -= dot(integral, push);
    const double cost = bowl.loss(bowl.flow(push, 0, 1)) - without;
    EXPECT_NEAR(expected, cost, 0.03 * std::abs(cost));
  }
}

}  // namespace
}  // namespace gv
