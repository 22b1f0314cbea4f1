#include <gtest/gtest.h>

#include "graph/spectrum/modes.h"
#include "graph/spectrum/spectrum.h"
#include "graph/topologies.h"

namespace gv {
namespace {

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
