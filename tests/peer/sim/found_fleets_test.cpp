// Drawn fleets in which the swarm found a violation. Each is made as small as possible, and has its
// cause and the seeds that found it.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "peer/sim/swarm.h"
#include "tests/peer/fleet/fleet_file.h"
#include "tests/peer/fleet/test_fleet.h"
#include "tests/peer/sim/told.h"

namespace gv {
namespace {

/// A peer that received from a neighbour which could not receive got no answers. It kept D2's
/// correction, a constant velocity, until its vector was not finite.
TEST(FoundFleets, CorrectionsStandStillWhileNobodyAnswers) {
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

/// All but one die while they store their first checkpoints, and have successors. One was
/// suspending its flows with a neighbour when the neighbour returned as a new process. At one end,
/// the content of their first exchange was later forgotten.
TEST(FoundFleets, SuccessorsBeginAnewBeforeTheirFirstExchange) {
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
  options.first = 120057;
  options.last = 120256;
  options.until = std::chrono::milliseconds(500);
  options.classes = 0;
  for (const Fault fault : {Fault::corrupt, Fault::duplicate, Fault::cut_off, Fault::half_open,
                            Fault::partition, Fault::clock, Fault::disk_full, Fault::torn})
    options.classes |= FaultClasses{1} << static_cast<int>(fault);
  const SwarmResult result = swarm(fleet, options);
  EXPECT_EQ(told(result), "");
  EXPECT_GT(result.probes[static_cast<std::size_t>(Probe::replaced)], 0U);
}

/// Servers of parameters have successors, but not if there are data servers. New processes that no
/// peer accepted knocked without end, and the others waited for them for ever.
TEST(FoundFleets, NobodyWaitsForAProcessThatNoneSucceeds) {
  for (const PeerId peers : {3U, 4U, 6U})
    for (const PeerId servers : {1U, 2U}) {
      const Assembly fleet(read_fleet_text(fmt::format(
          "version: 1\npeers: {}\ndata: {{ kind: sparse, train: 294, test: 50, servers: {} }}\n"
          "algorithm: parameter-server\nnetwork: {{ latency: 1.67 ms }}\nstop: {{ rounds: 16 }}\n"
          "launch: {{ restart: on-failure }}\nfaults: {{ deadline: 0 s }}\n",
          peers, servers)));
      SwarmOptions options;
      options.last = 100;
      const SwarmResult result = swarm(fleet, options);
      EXPECT_EQ(told(result), "") << peers << " and " << servers;
      EXPECT_GE(result.faults[static_cast<std::size_t>(Fault::crash)], 20U);
    }
}

/// A peer dies while a data server packs the minibatch for its request, and its successor arrives
/// before the answer. The successor took the answer for that to its own request of the same number,
/// requested more than it had been given, and the two ended their conversation.
TEST(FoundFleets, AnAnswerGoesToTheProcessThatAsked) {
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

/// A peer in another round than its neighbours skips their rounds, with no exchange open, and comes
/// back. Earlier flows still acted ten times without an answer, and the models of a chain swung
/// apart until they were not finite.
TEST(FoundFleets, MomentumOfFlowsEndsWhereNobodyAnswers) {
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

/// Each peer of a circle that was out of step waited twice as long as it had seen the others wait.
/// Without a deadline the waits grew without end.
TEST(FoundFleets, WaitsAlongACircleDoNotGrowWithoutEnd) {
  const Assembly fleet(read(fmt::format(circling, "0 s")));
  SwarmOptions options;
  options.first = 9225370001;
  options.last = 9225370010;
  options.until = std::chrono::seconds(2);
  EXPECT_EQ(told(swarm(fleet, options)), "");
}

/// The circle must end soon with the default deadline too. Rounds of 8 ms once took two more
/// minutes, until the waits were as long as the deadline.
TEST(FoundFleets, ACircleOfWaitsIsSoonOver) {
  const Assembly fleet(read(fmt::format(circling, "30 s")));
  for (std::uint64_t seed = 9225370001; seed <= 9225370010; ++seed) {
    SimulationOptions options;
    options.threads = 1;
    options.faults = FaultPlan{.seed = seed, .until = std::chrono::seconds(2), .trace = {}};
    options.faults->times = swarm_times(fleet);
    // A peer with all its neighbours in quarantine continues at its usual pace, which may be slow.
    options.faults->classes &= ~(FaultClasses{1} << static_cast<int>(Fault::poison));
    Observer observer(fleet.fleet.size(), fleet.evaluator(), {});
    EXPECT_LT(simulate(fleet, observer, options).virtual_time, std::chrono::seconds(12)) << seed;
  }
}

/// A peer died before a neighbour had met it. That neighbour has no way to know, and ends with an
/// error as a real one does. Peers that had met it continue without it.
TEST(FoundFleets, WhoDiesBeforeItIsMetKeepsNobodyWaiting) {
  const Assembly fleet(read(R"(version: 1
peers: 9
data: { kind: linear, train: 468, test: 50, servers: 1 }
algorithm: relay-sgd
topology: binary-tree
network: { latency: 3.36 ms, jitter: 1.19 ms }
stop: { rounds: 1 }
)"));
  SwarmOptions options;
  options.first = options.last = 9432000004;
  options.until = std::chrono::milliseconds(125);
  options.classes = all_faults;
  for (const Fault fault : {Fault::reset, Fault::pause, Fault::poison, Fault::disk_full,
                            Fault::torn, Fault::lie, Fault::accident})
    options.classes &= ~(FaultClasses{1} << static_cast<int>(fault));
  const SwarmResult result = swarm(fleet, options);
  EXPECT_EQ(told(result), "");
  EXPECT_EQ(result.faults[static_cast<std::size_t>(Fault::crash)], 2U);
}

/// A peer gave up a process that lied, and ended. The liar then died, and its successor is honest.
TEST(FoundFleets, WhoGivesUpALiarIsNotJudgedByItsSuccessor) {
  const Assembly fleet(read(R"(version: 1
seed: 94084
peers: 7
data: { kind: linear, train: 399, test: 50, features: 4, servers: 1 }
train: { batch: 7, local_steps: 5 }
algorithm: k-gt
topology: { kind: matcha, budget: 0.2, seed: 3, graph: path }
network: { latency: 0.138 ms, jitter: 0.0221 ms, bandwidth: 1 Gbit }
simulate: { flops: 1 MFLOP/s }
stop: { rounds: 48 }
checkpoint: { every: 20 rounds }
launch: { restart: on-failure }
faults: { deadline: 20 ms }
)"));
  SwarmOptions options;
  options.first = options.last = 9664720006;
  options.until = std::chrono::milliseconds(500);
  options.classes = all_faults;
  for (const Fault fault :
       {Fault::duplicate, Fault::slice, Fault::slow, Fault::clock, Fault::poison, Fault::accident})
    options.classes &= ~(FaultClasses{1} << static_cast<int>(fault));
  const SwarmResult result = swarm(fleet, options);
  EXPECT_EQ(told(result), "");
  EXPECT_EQ(result.faults[static_cast<std::size_t>(Fault::lie)], 1U);
}

/// A peer was made slower than the deadline allows, for good: its neighbours do not wait for it,
/// and the edge that stayed silent was no mistake of theirs.
TEST(FoundFleets, APeerSlowerThanTheDeadlineMayStayOutOfStep) {
  const Assembly fleet(read(R"(version: 1
name: fleet-11416
seed: 652742
peers: 9
data: { kind: sparse, train: 252, test: 50, features: 26, nonzeros: 5 }
train: { optimizer: { kind: adamw, lr: 0.01 }, batch: 2 }
algorithm: { kind: gradient-tracking, codec: bf16 }
topology: { kind: erdos-renyi, p: 0.4, seed: 19 }
network: { latency: 0.352 ms, bandwidth: 1 Gbit, local: tcp }
simulate: { flops: 1 MFLOP/s }
stop: { rounds: 299 }
faults: { deadline: 5 ms }
)"));
  SwarmOptions options;
  options.first = options.last = 114160006;
  options.until = std::chrono::milliseconds(500);
  EXPECT_EQ(told(swarm(fleet, options)), "");
}

/// A link between two stages was cut for longer than it takes to give a peer up. All wait for it
/// without a deadline, and the run was taken for stuck before the cut was over.
TEST(FoundFleets, AFleetThatWaitsForTheEndOfACutIsNotStuck) {
  const Assembly fleet(read(R"(version: 1
name: fleet-12177
seed: 843007
peers: 8
data: { kind: blobs, train: 48, test: 50, features: 2, classes: 3 }
model: { kind: mlp, hidden: [6, 4, 8, 4] }
train: { optimizer: { kind: sgd, lr: 0.01, schedule: linear }, batch: 7, local_steps: 5 }
algorithm: local-sgd
network: { latency: 5.86 ms, jitter: 2.97 ms, bandwidth: 1 Gbit }
simulate: { flops: 1 GFLOP/s }
stop: { rounds: 300 }
checkpoint: { every: 16 rounds }
faults: { deadline: 0 s }
parallel: { stages: [fc1, fc2, fc3, fc4], tensor: 2, microbatches: 7, ahead: 2 }
)"));
  SwarmOptions options;
  options.first = options.last = 121770010;
  options.until = std::chrono::milliseconds(2000);
  EXPECT_EQ(told(swarm(fleet, options)), "");
}

}  // namespace
}  // namespace gv
