#include <gtest/gtest.h>

#include "peer/runtime/peer_plan.h"
#include "tests/peer/fleet/test_fleet.h"
#include "tests/peer/sim/injecting.h"

namespace gv {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using Kind = Injection::Kind;

/// All-reduce with four peers in virtual time: 300 rounds of about three milliseconds.
struct AllReduce : testing::Test {
  static Fleet fleet() {
    Fleet fleet = quadratic_fleet(4, "ring", "all-reduce", "");
    fleet.data.quadratic.dimension = 8;
    fleet.data.quadratic.noise = 1;
    fleet.optimizer.lr = 0.05;
    fleet.network.latency = std::chrono::microseconds(300);
    fleet.flops = 1e6;
    fleet.stop.rounds = 300;
    fleet.faults.deadline = milliseconds(200);
    fleet.faults.dead_after = milliseconds(40);
    fleet.faults.heartbeat = milliseconds(8);
    return fleet;
  }
  static std::string undisturbed() {
    const Assembly assembly(fleet());
    Observer observer(4, assembly.evaluator(), {});
    simulate(assembly, observer, {});
    return observer.params_hash();
  }
  void run(const Fleet& file, std::vector<Injection> faults) {
    const Assembly assembly(file);
    Observer observer(4, assembly.evaluator(), {});
    result = simulate(assembly, observer, injecting(std::move(faults), link_times(file.faults)));
    hash = observer.params_hash();
    rounds = observer.summary()->round;
    EXPECT_EQ(result.violations, std::vector<std::string>{});
  }

  SimulationResult result;
  std::string hash;
  Round rounds = 0;
};

TEST_F(AllReduce, CompletesItsRoundsWhenALinkIsCutForManyDeadlines) {
  run(fleet(), {{milliseconds(50), Kind::cut, 1, 2, seconds(2)}});
  EXPECT_EQ(hash, undisturbed());
  EXPECT_EQ(rounds, 300U);
  EXPECT_TRUE(result.broken_by.empty());
  EXPECT_GT(result.virtual_time, seconds(2));
}

TEST_F(AllReduce, CompletesItsRoundsWhenAPeerStandsStill) {
  run(fleet(), {{milliseconds(50), Kind::stop, 2, 0, seconds(2)}});
  EXPECT_EQ(hash, undisturbed());
  EXPECT_TRUE(result.broken_by.empty());
}

TEST_F(AllReduce, CompletesItsRoundsAtThePaceOfASlowPeer) {
  Fleet slow = fleet();
  slow.peers[1].speed = 0.02;
  run(slow, {});
  EXPECT_EQ(hash, undisturbed());
  EXPECT_TRUE(result.broken_by.empty());
}

TEST_F(AllReduce, EndsByNameWhenAPeerDies) {
  run(fleet(), {{.at = milliseconds(50), .kind = Kind::kill, .peer = 2}});
  EXPECT_EQ(result.lost, std::vector<PeerId>{2});
  EXPECT_EQ(result.broken_by, std::set<PeerId>{2});
  EXPECT_LT(rounds, 300U);
}

TEST_F(AllReduce, EndsByNameWhenAPeerTakesLongerThanTheDeadline) {
  Fleet stuck = fleet();
  stuck.peers[1].speed = 1e-4;
  run(stuck, {});
  EXPECT_EQ(result.broken_by, std::set<PeerId>{1}) << "and nobody who only waits for it";
  EXPECT_EQ(rounds, 0U);
}

}  // namespace
}  // namespace gv
