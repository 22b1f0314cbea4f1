#include <algorithm>
#include <string>

#include <gtest/gtest.h>

#include "tests/peer/sim/slow_peer.h"

// Methods that move the model by the sum of earlier flows, with late halves.

namespace gv {
namespace {

using std::chrono::milliseconds;

struct Shape {
  PeerId peers;
  const char* graph;
};
constexpr Shape shapes[] = {
    {4, "complete"}, {8, "king-torus"}, {8, "ring"}, {9, "star"}, {6, "path"}};

class LateFlows : public testing::TestWithParam<const char*> {
 protected:
  /// Returns whether this method is known to oscillate there with a slow peer.
  static bool swings(Shape shape) {
    return std::string(GetParam()) == "k_gt" && std::string(shape.graph) == "star";
  }
  static Fleet fleet(Shape shape, double speed, Time deadline) {
    std::string kind = GetParam();
    std::ranges::replace(kind, '_', '-');
    Fleet fleet = beside_a_slow_peer(shape.peers, shape.graph, kind, speed, deadline);
    if (kind != "gut") fleet.weights = "lazy";
    return fleet;
  }
};

/// With a peer that is always late, each flow once acted again and again before its answer, and
/// models swung apart by up to fifty powers of ten.
TEST_P(LateFlows, BesideASlowPeerModelsStayWhereTheyAre) {
  for (const Shape& shape : shapes)
    for (const double speed : {0.01, 0.05})
      for (const int deadline : {1, 2, 6}) {
        if (swings(shape)) continue;
        Fleet slow = fleet(shape, speed, milliseconds(deadline));
        EXPECT_LT(largest_coordinate(slow), 10)
            << shape.peers << ' ' << shape.graph << ' ' << speed << ' ' << deadline;
      }
}

/// A network that sometimes exceeds the deadline is enough for that, with peers of equal speed.
TEST_P(LateFlows, OnARestlessNetworkModelsStayWhereTheyAre) {
  for (const Shape& shape : shapes)
    for (const int deadline_us : {1800, 2200}) {
      Fleet restless = fleet(shape, 1, std::chrono::microseconds(deadline_us));
      restless.network.jitter = std::chrono::microseconds(900);
      EXPECT_LT(largest_coordinate(restless), 10)
          << shape.peers << ' ' << shape.graph << ' ' << deadline_us;
    }
}

INSTANTIATE_TEST_SUITE_P(EveryMethod,
                         LateFlows,
                         testing::Values("d2", "nids", "extra", "led", "proxskip", "k_gt", "gut"),
                         [](const auto& row) { return std::string(row.param); });

}  // namespace
}  // namespace gv
