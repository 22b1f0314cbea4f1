#include "peer/sim/swarm.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/peer/fleet/fleet_file.h"
#include "tests/peer/fleet/test_fleet.h"
#include "tests/peer/sim/told.h"

namespace gv {
namespace {

Fleet restless_method(const std::string& kind,
                      const std::string& order = "",
                      const std::string& graph = "ring") {
  Fleet fleet = restless_fleet(6, graph, order);
  fleet.algorithm = kind;
  return fleet;
}

struct Case {
  const char* name;
  PeerId peers;
  const char* topology;
  const char* order;
};
class Swarm : public testing::TestWithParam<Case> {};

TEST_P(Swarm, LosesNothingAndNobodyWaitsForEver) {
  const Assembly fleet(restless_fleet(GetParam().peers, GetParam().topology, GetParam().order));
  SwarmOptions options;
  options.last = 1000;
  const SwarmResult result = swarm(fleet, options);
  EXPECT_EQ(result.seeds, 1000U);
  EXPECT_EQ(told(result), "");
  EXPECT_LT(result.largest_drift, 1e-5);
  for (std::size_t k = 0; k < result.faults.size(); ++k)
    EXPECT_GE(result.faults[k], 20U) << fault_names[k] << " hardly ever happened";
  for (std::size_t k = 0; k < result.probes.size(); ++k)
    EXPECT_GE(result.probes[k], 20U) << probe_names[k] << " was hardly ever reached";
}

INSTANTIATE_TEST_SUITE_P(EveryKind,
                         Swarm,
                         testing::Values(Case{"Ring", 6, "ring", "lian"},
                                         Case{"RingAtc", 6, "ring", "atc"},
                                         Case{"RingCta", 6, "ring", "cta"},
                                         Case{"Pair", 2, "path", "lian"},
                                         Case{"Star", 7, "star", "lian"},
                                         Case{"Complete", 5, "complete", "atc"},
                                         Case{"Torus", 9, "torus:3x3", "lian"},
                                         Case{"Hypercube", 8, "hypercube", "cta"},
                                         Case{"RandomMatching", 6, "random-matching", "lian"},
                                         Case{"OddMatching", 5, "random-matching", "atc"},
                                         Case{"Base", 6, "base:k=1", "lian"},
                                         Case{"BaseCta", 7, "base:k=2", "cta"},
                                         Case{"Matcha", 6, "matcha:budget=0.4,graph=complete",
                                              "atc"}),
                         [](const auto& row) { return std::string(row.param.name); });

/// No circle of waits may remain without a deadline. A lagging peer once began its next exchange
/// with a neighbour that had settled theirs in the same round, and was not noticed.
TEST(SwarmRuns, NobodyWaitsForEverWithoutADeadline) {
  for (const char* graph : {"ring", "random-matching", "base:k=1", "matcha:graph=complete"}) {
    Fleet file = restless_fleet(6, graph, "lian");
    file.faults.deadline = Time{0};
    const Assembly fleet(file);
    SwarmOptions options;
    options.last = 500;
    EXPECT_EQ(told(swarm(fleet, options)), "") << graph;
  }
}

/// Each peer waits for all with these methods. A fault that only delays changes no bit, a death has
/// only its proper effect, and no peer waits for ever.
TEST(SwarmRuns, WhatIsOnlyDelayedEndsWithTheBitsOfAnUndisturbedRun) {
  for (const auto& [kind, order] :
       std::vector<std::pair<std::string, std::string>>{{"all-reduce", "ring"},
                                                        {"all-reduce", "driver"},
                                                        {"local-sgd", ""},
                                                        {"slowmo", ""},
                                                        {"streaming-diloco", ""},
                                                        {"eager-diloco", ""},
                                                        {"sparse-loco", ""},
                                                        {"parameter-server", "sync"},
                                                        {"flexrr", ""},
                                                        {"easgd", "sync"},
                                                        {"decoupled-diloco", ""},
                                                        {"fedavg", ""},
                                                        {"scaffold", ""}}) {
    SCOPED_TRACE(kind + " " + order);
    Fleet file = restless_method(kind, order);
    file.faults.deadline = Time{0};
    const Assembly fleet(file);
    SwarmOptions options;
    options.last = 300;
    const SwarmResult result = swarm(fleet, options);
    EXPECT_EQ(told(result), "");
    EXPECT_GE(result.compared, 20U);
  }
}

/// Servers and workers die and are restarted, some with a checkpoint, some without, some never.
/// Three servers and a worker once waited for each other, because the worker sent a successor its
/// state only in turn.
TEST(SwarmRuns, SuccessorsOfServersKeepNobodyWaiting) {
  for (const double servers : {1, 3}) {
    Fleet file = restless_method("parameter-server", "sync");
    file.faults.deadline = Time{0};
    file.settings = {{"servers", servers}};
    file.restart = true;
    const Assembly fleet(file);
    SwarmOptions options;
    options.last = 300;
    const SwarmResult result = swarm(fleet, options);
    EXPECT_EQ(told(result), "");
    EXPECT_GE(result.probes[static_cast<std::size_t>(Probe::replaced)], 100U);
  }
}

/// If each server decided alone which parts are enough, three servers could keep three peers
/// waiting in a circle. All orders in which parts can arrive were searched to find this.
TEST(SwarmRuns, QuorumsKeepNobodyWaiting) {
  for (const auto& [servers, quorum] : {std::pair{1.0, 1.0}, {3.0, 2.0}, {4.0, 3.0}, {3.0, 5.0}}) {
    SCOPED_TRACE(testing::Message() << servers << " servers, a quorum of " << quorum);
    Fleet file = restless_method("decoupled-diloco");
    file.local_steps = 3;
    file.settings = {{"servers", servers}, {"quorum", quorum}, {"delay", 1}};
    file.restart = true;
    for (const int deadline_ms : {0, 50}) {
      file.faults.deadline = std::chrono::milliseconds(deadline_ms);
      const Assembly fleet(file);
      EXPECT_EQ(judgement_of(fleet), Judgement::finite);
      SwarmOptions options;
      options.last = 200;
      EXPECT_EQ(told(swarm(fleet, options)), "") << deadline_ms;
    }
  }
}

/// Pairs that average by their own messages keep the sum of the fleet while all are alive.
TEST(SwarmRuns, PairsKeepTheSum) {
  Fleet file = restless_method("ad-psgd");
  file.faults.deadline = Time{0};
  const Assembly fleet(file);
  EXPECT_EQ(judgement_of(fleet), Judgement::sum);
  SwarmOptions options;
  options.last = 300;
  const SwarmResult result = swarm(fleet, options);
  EXPECT_EQ(told(result), "");
  EXPECT_GT(result.largest_drift, 0) << "no seed was judged";
}

/// Methods that push to any peer present, or ask a server at any time: no peer waits for ever, and
/// models stay finite. A peer that received nothing once divided its weight until its steps had no
/// bound.
TEST(SwarmRuns, WhoeverPushesComesToAnEnd) {
  struct Pushing {
    const char* kind;
    const char* order;
    const char* graph;
    bool waits;
  };
  for (const auto& [kind, order, graph, waits] :
       {Pushing{"sgp", "", "exponential", false}, Pushing{"relay-sgd", "", "binary-tree", false},
        Pushing{"robust-gossip", "", "complete", false},
        Pushing{"parameter-server", "async", "ring", true}, Pushing{"downpour", "", "ring", true},
        Pushing{"async-diloco", "", "ring", true}, Pushing{"easgd", "async", "ring", true}}) {
    SCOPED_TRACE(kind);
    Fleet file = restless_method(kind, order, graph);
    file.optimizer.lr = 0.01;
    if (waits) file.faults.deadline = Time{0};
    const Assembly fleet(file);
    EXPECT_EQ(swarm_objection(fleet), "");
    EXPECT_EQ(judgement_of(fleet), Judgement::finite);
    SwarmOptions options;
    options.last = 300;
    EXPECT_EQ(told(swarm(fleet, options)), "");
    Fleet other = file;
    other.faults.deadline = waits ? Time(std::chrono::milliseconds(50)) : Time{0};
    EXPECT_NE(swarm_objection(Assembly(other)), "");
  }
}

/// With a deadline the faults include liars, and a server may lie like a worker. A peer that came
/// and went, with every frame refused, was once waited for without end.
TEST(SwarmRuns, NobodyWaitsForEverForWhoIsRefused) {
  for (const auto& [kind, order] :
       std::vector<std::pair<std::string, std::string>>{{"parameter-server", "sync"},
                                                        {"easgd", "sync"},
                                                        {"flexrr", ""},
                                                        {"decoupled-diloco", ""},
                                                        {"fedavg", ""},
                                                        {"scaffold", ""}}) {
    SCOPED_TRACE(kind);
    const Assembly fleet(restless_method(kind, order));
    EXPECT_EQ(judgement_of(fleet), Judgement::finite);
    SwarmOptions options;
    options.last = 120;
    const SwarmResult result = swarm(fleet, options);
    EXPECT_EQ(told(result), "");
    EXPECT_GE(result.faults[static_cast<std::size_t>(Fault::lie)], 10U);
  }
}

TEST(SwarmRuns, AreTheSameWhateverTheNumberOfJobs) {
  const Assembly fleet(restless_fleet(6, "ring", "lian"));
  SwarmOptions options;
  options.last = 20;
  options.jobs = 1;
  const SwarmResult one = swarm(fleet, options);
  options.jobs = 3;
  const SwarmResult three = swarm(fleet, options);
  EXPECT_EQ(one.events, three.events);
  EXPECT_EQ(one.faults, three.faults);
  EXPECT_EQ(one.probes, three.probes);
  EXPECT_EQ(one.trace_hash, three.trace_hash);
  EXPECT_EQ(one.largest_drift, three.largest_drift);
}

/// Without faults the swarm's world equals the plain simulator, with the same replicas.
TEST(SwarmRuns, WithoutFaultsNothingDiffers) {
  const Assembly fleet(restless_fleet(6, "ring", "lian"));
  const auto hash = [&](std::optional<FaultPlan> faults) {
    Observer observer(6, fleet.evaluator(), {});
    SimulationOptions options;
    options.faults = faults;
    EXPECT_TRUE(simulate(fleet, observer, options).violations.empty());
    return observer.params_hash();
  };
  EXPECT_EQ(hash({}), hash(FaultPlan{1, Time{0}, {}}));
  EXPECT_NE(hash({}), hash(FaultPlan{1, std::chrono::milliseconds(500), {}}));
}

/// Over 5 ms a handshake takes 20 ms, which a clock of double speed shows as 40. The swarm's links
/// once gave up then; parted peers never met again and "waited for ever".
TEST(SwarmRuns, LinksHaveTheTimeThatTheNetworkTakes) {
  for (const Time latency : {std::chrono::milliseconds(5), std::chrono::milliseconds(10)}) {
    Fleet file = restless_method("parameter-server", "async");
    file.faults.deadline = Time{0};
    file.network.latency = latency;
    file.stop.rounds = 50;
    const Assembly fleet(file);
    const LinkTimes times = swarm_times(fleet);
    EXPECT_GE(times.handshake, 2 * 4 * latency);
    EXPECT_LT(2 * times.heartbeat, times.dead_after);
    SwarmOptions options;
    options.last = 300;
    EXPECT_EQ(told(swarm(fleet, options)), "") << latency.count();
  }
  EXPECT_EQ(swarm_times(Assembly(restless_fleet(6, "ring", "lian"))).dead_after,
            swarm_times().dead_after);
}

/// A peer that still trained an hour after the last fault once counted as waiting for ever. These
/// rounds take minutes each.
TEST(SwarmRuns, SlowPeersDoNotWaitForEver) {
  Fleet file = restless_fleet(3, "path", "lian");
  file.flops = 10;
  file.stop.rounds = 100;
  file.checkpoint.every = 0;
  file.faults.deadline = Time{0};
  const Assembly fleet(file);
  SwarmOptions options;
  options.last = 5;
  options.until = std::chrono::seconds(1);
  EXPECT_EQ(told(swarm(fleet, options)), "");
}

/// An excluded kind of fault never happens, and the others stay the same.
TEST(SwarmRuns, OnlySomeKindsOfFault) {
  const Assembly fleet(restless_fleet(6, "ring", "lian"));
  SwarmOptions options;
  options.last = 20;
  options.classes = FaultClasses{1} << static_cast<int>(Fault::reset);
  const SwarmResult result = swarm(fleet, options);
  EXPECT_GT(result.faults[static_cast<std::size_t>(Fault::reset)], 50U);
  EXPECT_EQ(result.faults[static_cast<std::size_t>(Fault::reset)], result.sum_of_faults());
  EXPECT_EQ(names_of(options.classes), std::vector<std::string_view>{"reset"});
}

}  // namespace
}  // namespace gv
