#include <chrono>
#include <ostream>
#include <string>

#include <gtest/gtest.h>

#include "tests/peer/fleet/test_fleet.h"
#include "tests/peer/sim/injecting.h"

namespace gv {
namespace {

/// The last of n peers is slow: its neighbours finish their rounds during its first, which takes
/// longer than ten deadlines.
Fleet with_a_slow_peer(const char* kind, const char* order, const char* graph, PeerId n) {
  Fleet fleet = quadratic_fleet(n, graph, kind, order);
  fleet.data.quadratic.dimension = 40;
  fleet.data.quadratic.spread = 1;
  fleet.data.quadratic.noise = 1;
  if (std::string(kind) == "d2") fleet.weights = "lazy";
  fleet.flops = 1e6;
  fleet.peers.back().speed = 1e-6;
  fleet.stop.rounds = 4;
  fleet.faults.deadline = std::chrono::milliseconds(200);
  return fleet;
}

struct SlowCase {
  const char* kind;
  const char* order;
  const char* graph;
  PeerId peers;
};

void PrintTo(const SlowCase& c, std::ostream* out) {
  *out << c.peers << " peers, " << c.kind << " " << c.order << " on " << c.graph;
}

class SlowPeer : public testing::TestWithParam<SlowCase> {};

/// Its neighbours once gave it up, and the flows of its last exchanges counted only at its end,
/// although all were alive and computing.
TEST_P(SlowPeer, IsWaitedForWhileItComputes) {
  const SlowCase& c = GetParam();
  const Assembly fleet(with_a_slow_peer(c.kind, c.order, c.graph, c.peers));
  Observer observer(c.peers, fleet.evaluator(), {});
  SimulationOptions options = injecting({});
  options.faults->judgement = Judgement::finite;
  const SimulationResult result = simulate(fleet, observer, options);
  EXPECT_EQ(result.violations, std::vector<std::string>{});
  EXPECT_GT(result.virtual_time, std::chrono::seconds(40)) << "four long rounds";
  ASSERT_TRUE(observer.summary());
  EXPECT_TRUE(observer.summary()->uneven.empty());
}

/// There is no heartbeat without faults, so nothing shows that it computes.
TEST_P(SlowPeer, IsWaitedForInAnUndisturbedSimulation) {
  const SlowCase& c = GetParam();
  const Assembly fleet(with_a_slow_peer(c.kind, c.order, c.graph, c.peers));
  Observer observer(c.peers, fleet.evaluator(), {});
  simulate(fleet, observer, {});
  ASSERT_TRUE(observer.summary());
  EXPECT_TRUE(observer.summary()->uneven.empty());
  EXPECT_GT(observer.summary()->time, std::chrono::seconds(40)) << "four long rounds";
}

INSTANTIATE_TEST_SUITE_P(Fleets,
                         SlowPeer,
                         testing::Values(SlowCase{"d-psgd", "lian", "path", 3},
                                         SlowCase{"d-psgd", "atc", "ring", 5},
                                         SlowCase{"gradient-tracking", "", "ring", 4},
                                         SlowCase{"d2", "", "star", 6},
                                         SlowCase{"extra", "", "ring", 5},
                                         SlowCase{"nids", "", "star", 6},
                                         SlowCase{"led", "", "path", 5},
                                         SlowCase{"aug-dgm", "", "path", 5},
                                         SlowCase{"momentum-tracking", "", "ring", 5},
                                         SlowCase{"beer", "", "ring", 5},
                                         SlowCase{"motef", "", "torus:2x4", 8},
                                         SlowCase{"gt-adam", "", "ring", 5},
                                         SlowCase{"gut", "", "ring", 5},
                                         SlowCase{"proxskip", "", "star", 5},
                                         SlowCase{"sparta", "", "ring", 5},
                                         SlowCase{"k-gt", "", "ring", 5},
                                         SlowCase{"decentlam", "", "ring", 5},
                                         SlowCase{"noloco", "", "ring", 5},
                                         SlowCase{"robust-gossip", "", "complete", 5},
                                         SlowCase{"choco-sgd", "", "ring", 5},
                                         SlowCase{"deep-squeeze", "", "torus:2x4", 8},
                                         SlowCase{"quasi-global-momentum", "", "complete", 4}));

}  // namespace
}  // namespace gv
