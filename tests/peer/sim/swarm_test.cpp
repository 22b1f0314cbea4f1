#include "peer/sim/swarm.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/peer/fleet/fleet_file.h"
#include "tests/peer/fleet/test_fleet.h"

namespace gv {
namespace {

std::string told(const SwarmResult& result) {
  if (!result.first_failing_seed) return "";
  std::string text = "seed " + std::to_string(*result.first_failing_seed) + ":\n";
  for (const std::string& violation : result.texts) text += violation + "\n";
  return text;
}

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

INSTANTIATE_TEST_SUITE_P(
    EveryKind,
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
                    Case{"Matcha", 6, "matcha:budget=0.4,graph=complete", "atc"}),
    [](const auto& row) { return std::string(row.param.name); });

/// Only the hurry ends a circle of waits without a deadline. Found so: a peer that was behind began
/// its next exchange with one that had settled theirs in the same round, and was not noticed.
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

/// These wait for everybody: a fault that only delays changes no bit, a death ends or costs what it
/// must, and nobody waits for ever.
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

/// Servers and workers die and are started again, some with a checkpoint, some without, some never.
/// Found so: three servers and a worker that each waited for another one, since a worker told a
/// successor what it had only when its turn came.
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

/// Where each server decided alone whose parts are enough, three of them would keep three peers
/// waiting in a circle; found by going through all orders in which parts can come.
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

/// Pairs that average by messages of their own keep the sum of the fleet, as long as all live.
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

/// Who pushes to whoever is there, and who asks a server when it likes: nobody waits for ever, and
/// models stay numbers. Found so: a peer that heard of nobody divided its weight until its steps
/// had no bound.
TEST(SwarmRuns, WhoeverPushesComesToAnEnd) {
  struct Pushing {
    const char* kind;
    const char* order;
    const char* graph;
    bool waits;
  };
  for (const auto& [kind, order, graph, waits] :
       {Pushing{"sgp", "", "exponential", false},
        Pushing{"relay-sgd", "", "binary-tree", false},
        Pushing{"robust-gossip", "", "complete", false},
        Pushing{"parameter-server", "async", "ring", true},
        Pushing{"downpour", "", "ring", true},
        Pushing{"async-diloco", "", "ring", true},
        Pushing{"easgd", "async", "ring", true}}) {
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

/// With a deadline liars are among the faults, and a server may lie as well as a worker. Found so:
/// a peer that came and went, and whose every frame was refused, was waited for without end.
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

/// The swarm's world without faults is the plain simulator's: the same replicas.
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

/// Found so: over 5 ms a handshake takes 20 ms, and a clock that goes twice as fast shows 40, after
/// which the swarm's links gave it up; peers that were parted once never met again, and "waited for
/// ever".
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

/// Found so: whoever still trained an hour after the last fault "waited for ever". These rounds
/// take minutes each.
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

/// Found so: a peer that still heard its neighbour, while that one did not hear it, got no answers
/// and kept D2's correction, a constant velocity, until its vector was not finite.
TEST(SwarmRuns, CorrectionsStandStillWhileNobodyAnswers) {
  const Assembly fleet(read(R"(version: 1
peers: 5
data: { kind: blobs, train: 185, test: 50, classes: 3 }
model: { hidden: [6] }
train: { batch: 5 }
algorithm: d2
network: { latency: 0.495 ms }
simulate: { flops: 0.1 MFLOP/s }
stop: { rounds: 297 }
faults: { deadline: 20 ms }
)"));
  SwarmOptions options;
  options.first = options.last = 120049;
  options.until = std::chrono::milliseconds(250);
  options.classes = 0;
  for (const Fault fault :
       {Fault::slice, Fault::cut_off, Fault::one_way, Fault::half_open, Fault::slow})
    options.classes |= FaultClasses{1} << static_cast<int>(fault);
  EXPECT_EQ(told(swarm(fleet, options)), "");
}

/// Found so: all but one die as they store their first checkpoints, and have successors. One of
/// these was suspending what had flowed between it and a neighbour when that came back as a new
/// process; what the two told each other in their first exchange was forgotten behind it, at one
/// end.
TEST(SwarmRuns, SuccessorsBeginAnewBeforeTheirFirstExchange) {
  const Assembly fleet(read(R"(version: 1
peers: 4
data: { kind: blobs, train: 185, test: 50, classes: 3 }
model: { hidden: [6] }
train: { batch: 5 }
algorithm: beer
network: { latency: 0.495 ms }
simulate: { flops: 0.1 MFLOP/s }
stop: { rounds: 29 }
checkpoint: { every: 20 rounds }
)"));
  SwarmOptions options;
  options.first = options.last = 120057;
  options.until = std::chrono::milliseconds(500);
  options.classes = 0;
  for (const Fault fault : {Fault::corrupt,
                            Fault::duplicate,
                            Fault::cut_off,
                            Fault::half_open,
                            Fault::partition,
                            Fault::clock,
                            Fault::disk_full,
                            Fault::torn})
    options.classes |= FaultClasses{1} << static_cast<int>(fault);
  const SwarmResult result = swarm(fleet, options);
  EXPECT_EQ(told(result), "");
  EXPECT_GT(result.probes[static_cast<std::size_t>(Probe::replaced)], 0U);
}

/// Found so: servers of parameters are succeeded, but not beside data servers. New processes that
/// nobody took back knocked without end, and the others waited for them for ever.
TEST(SwarmRuns, NobodyWaitsForAProcessThatNoneSucceeds) {
  for (const PeerId peers : {3U, 4U, 6U})
    for (const PeerId servers : {1U, 2U}) {
      const Assembly fleet(read_fleet_text(fmt::format(
          "version: 1\npeers: {}\ndata: {{ kind: sparse, train: 294, test: 50, servers: {} }}\n"
          "algorithm: parameter-server\nnetwork: {{ latency: 1.67 ms }}\nstop: {{ rounds: 16 }}\n"
          "launch: {{ restart: on-failure }}\nfaults: {{ deadline: 0 s }}\n",
          peers,
          servers)));
      SwarmOptions options;
      options.last = 100;
      const SwarmResult result = swarm(fleet, options);
      EXPECT_EQ(told(result), "") << peers << " and " << servers;
      EXPECT_GE(result.faults[static_cast<std::size_t>(Fault::crash)], 20U);
    }
}

/// Found so: a peer dies while a data server packs the minibatch that it has asked for, and its
/// successor is there before the answer. It took the answer for that of its own question of the
/// same number, asked for more than it had been given, and the two ended their conversation.
TEST(SwarmRuns, AnAnswerGoesToTheProcessThatAsked) {
  for (const char* method : {"d-psgd", "nids", "{ kind: beer, codec: int8 }"}) {
    const Assembly fleet(read(fmt::format(R"(version: 1
peers: 5
data: {{ kind: linear, train: 224, test: 50, servers: 2 }}
algorithm: {}
network: {{ latency: 0.178 ms }}
simulate: {{ flops: 0.1 MFLOP/s }}
stop: {{ rounds: 8 }}
faults: {{ deadline: 0 s }}
)",
                                          method)));
    SwarmOptions options;
    options.first = 9071260001;
    options.last = 9071260060;
    options.until = std::chrono::milliseconds(250);
    options.classes = FaultClasses{1} << static_cast<int>(Fault::crash);
    const SwarmResult result = swarm(fleet, options);
    EXPECT_EQ(told(result), "") << method;
    EXPECT_GT(result.probes[static_cast<std::size_t>(Probe::replaced)], 20U) << method;
  }
}

/// Found so: whoever is in another round than its neighbours sits their rounds out, with nothing
/// open, and comes back. What had flowed before acted ten times all the same, without an answer,
/// and the models of a chain swung apart until they were no numbers.
TEST(SwarmRuns, MomentumOfFlowsEndsWhereNobodyAnswers) {
  const Assembly fleet(read(R"(version: 1
seed: 827220
peers: 16
data:
  { kind: blobs, train: 180, test: 50, features: 5, classes: 3,
    partition: { kind: by-label, classes_per_peer: 1 } }
model: { kind: mlp, hidden: [6, 4, 8, 4] }
train: { optimizer: { kind: sgd, lr: 0.1 }, batch: 8 }
algorithm: { kind: decentlam, codec: fp16 }
topology: { kind: king-torus, weights: max-degree }
network: { latency: 6.1 ms }
simulate: { flops: 0.1 MFLOP/s }
stop: { rounds: 300 }
faults: { deadline: 50 ms }
parallel: { stages: [fc1, fc2], recompute: true, tensor: 2, microbatches: 1, ahead: 1 }
)"));
  SwarmOptions options;
  options.first = 20;
  options.last = 26;
  EXPECT_EQ(told(swarm(fleet, options)), "");
}

constexpr const char* circling = R"(version: 1
seed: 918194
peers: 6
data: {{ kind: linear, train: 150, test: 50, features: 8 }}
train: {{ optimizer: {{ kind: sgd, lr: 0.01, momentum: 0.3 }}, batch: 6 }}
algorithm: {{ kind: aug-dgm, codec: bf16 }}
topology: {{ kind: random-regular, degree: 3, seed: 19, weights: fdla }}
network: {{ latency: 1.51 ms, bandwidth: 10 Mbit, local: tcp }}
simulate: {{ flops: 10 MFLOP/s }}
stop: {{ rounds: 300 }}
checkpoint: {{ every: 15 rounds }}
faults: {{ deadline: {} }}
)";

/// Found so: each of a circle of peers that were out of step waited twice as long as it had seen
/// the others wait before, and without a deadline that had no end.
TEST(SwarmRuns, WaitsAlongACircleDoNotGrowWithoutEnd) {
  const Assembly fleet(read(fmt::format(circling, "0 s")));
  SwarmOptions options;
  options.first = 9225370001;
  options.last = 9225370010;
  options.until = std::chrono::seconds(2);
  EXPECT_EQ(told(swarm(fleet, options)), "");
}

/// It is soon over with the usual deadline, too: rounds of 8 ms took two minutes more, until the
/// waits were as long as the deadline.
TEST(SwarmRuns, ACircleOfWaitsIsSoonOver) {
  const Assembly fleet(read(fmt::format(circling, "30 s")));
  for (std::uint64_t seed = 9225370001; seed <= 9225370010; ++seed) {
    SimulationOptions options;
    options.threads = 1;
    options.faults = FaultPlan{.seed = seed, .until = std::chrono::seconds(2), .trace = {}};
    options.faults->times = swarm_times(fleet);
    Observer observer(fleet.fleet.size(), fleet.evaluator(), {});
    EXPECT_LT(simulate(fleet, observer, options).virtual_time, std::chrono::seconds(12)) << seed;
  }
}

/// A kind of fault that is left out never happens, and the others are as they were.
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
