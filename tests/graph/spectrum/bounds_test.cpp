#include "graph/spectrum/bounds.h"

#include <gtest/gtest.h>

#include "graph/spectrum/spectrum.h"

namespace gv {
namespace {

/// Section 1.6 of the project's theory sheet: L = sigma^2 = f(0) - f* = 1 on rings.
TEST(Bounds, LiansConditionsOnRings) {
  struct Row {
    PeerId n;
    double shared, partitioned, small_step;
  };
  for (const Row& row : {Row{3, 2.430e2, 2.430e4, 6.480e2},
                         Row{4, 1.296e3, 4.679e5, 2.592e3},
                         Row{8, 2.639e5, 1.870e9, 1.209e5},
                         Row{16, 1.072e8, 1.288e13, 7.157e6},
                         Row{32, 5.178e10, 1.011e17, 4.493e8},
                         Row{64, 2.613e13, 8.193e20, 2.862e10}}) {
    const double gap = closed_form_spectrum(parse_topology("ring"), row.n, "metropolis")->gap;
    const LianBound shared = lian_sufficient_iterations({.peers = row.n}, gap);
    const LianBound parts = lian_sufficient_iterations({.peers = row.n, .difference = 1}, gap);
    EXPECT_NEAR(shared.speed_up / row.shared, 1, 6e-4) << row.n;
    EXPECT_NEAR(parts.speed_up / row.partitioned, 1, 6e-4) << row.n;
    EXPECT_NEAR(shared.small_step / row.small_step, 1, 6e-4) << row.n;
  }
}

TEST(Bounds, GradientFallsWithPeersAndIterations) {
  const LianProblem sixteen{.peers = 16};
  EXPECT_NEAR(lian_gradient_bound(sixteen, 1e6), 8e-6 + 14 / 4e3, 1e-12);
  EXPECT_NEAR(
      lian_gradient_bound({.peers = 64}, 1e12) / lian_gradient_bound(sixteen, 1e12), 0.5, 1e-4);
}

/// Rings: n^7 with equal data, n^11 with unequal; strongly convex: n^5.
TEST(Bounds, TransientsOfRings) {
  const auto at = [](PeerId n) {
    return transient_orders(n, closed_form_spectrum(parse_topology("ring"), n, "metropolis")->gap);
  };
  const TransientOrders small = at(1000);
  const TransientOrders large = at(2000);
  EXPECT_NEAR(large.equal_data / small.equal_data, 128, 0.01);
  EXPECT_NEAR(large.unequal_data / small.unequal_data, 2048, 0.1);
  EXPECT_NEAR(large.strongly_convex / small.strongly_convex, 32, 0.01);
}

}  // namespace
}  // namespace gv
