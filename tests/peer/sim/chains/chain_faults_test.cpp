#include <cmath>

#include <gtest/gtest.h>

#include "peer/sim/swarm.h"
#include "tests/peer/sim/chains/chain_fleets.h"
#include "tests/peer/sim/injecting.h"
#include "tests/peer/sim/told.h"

// Faults in chains: delays change no bit, and a chain that loses a stage ends alone.

namespace gv {
namespace {

using std::chrono::milliseconds;
using Kind = Injection::Kind;

/// Chains with rounds of about a millisecond.
ChainFleet slow_chains() {
  ChainFleet fleet;
  fleet.rounds = 200;
  fleet.more = "simulate: { flops: 0.2 GFLOP/s }\nnetwork: { latency: 50 us }\n";
  return fleet;
}

TEST(ChainFaults, ACutChangesNoBit) {
  for (std::uint64_t k = 0; k < 48; ++k) {
    Rng rng = Rng(11).derive("cuts").derive(k);
    ChainFleet drawn = slow_chains();
    if (k >= 24) drawn = drawn.streamed(k % 2 == 0);
    drawn.chains = 2 + static_cast<PeerId>(rng.below(2));
    drawn.stages = 2 + static_cast<PeerId>(rng.below(3));
    drawn.method = one_of<std::string>(
        rng,
        {"{ kind: d-psgd, order: lian }", "{ kind: d-psgd, order: atc }", "{ kind: all-reduce }"});
    const Assembly fleet = drawn.assembly();
    const auto peer = static_cast<PeerId>(rng.below(fleet.fleet.size()));
    const std::vector<PeerId> linked = links_of(fleet.plan(peer));
    const PeerId other = one_of(rng, linked);
    const Time at = milliseconds(1 + rng.below(30));
    // Shorter than the time that a connection has to return before it counts as away.
    const SimulationOptions cut = injecting(
        {{.at = at, .kind = Kind::cut, .peer = peer, .other = other, .length = milliseconds(10)}});
    const ChainRun run = run_chains(fleet, cut);
    EXPECT_EQ(run.result.violations, std::vector<std::string>{}) << drawn.text();
    EXPECT_EQ(run.hashes.params, run_chains(fleet).hashes.params)
        << drawn.text() << "cut between " << peer << " and " << other << " at " << at.count();
  }
}

TEST(ChainFaults, AStoppedStageHoldsUpItsChainAndChangesNoBit) {
  for (const ChainFleet& file : {slow_chains(), slow_chains().streamed(false)}) {
    const Assembly fleet = file.assembly();
    for (PeerId peer = 0; peer < 4; ++peer) {
      const ChainRun run = run_chains(fleet, injecting({{.at = milliseconds(10),
                                                         .kind = Kind::stop,
                                                         .peer = peer,
                                                         .length = milliseconds(20)}}));
      EXPECT_EQ(run.result.violations, std::vector<std::string>{}) << file.text();
      EXPECT_EQ(run.hashes.params, run_chains(fleet).hashes.params) << file.text() << peer;
    }
  }
}

/// Expects that the other of two chains keeps its whole model to the end when a stage dies, and
/// that the fleet's model is that chain's.
void expect_to_end_alone(const ChainFleet& file) {
  for (PeerId killed = 0; killed < 4; ++killed) {
    const Assembly fleet = file.assembly();
    const ChainRun run = run_chains(
        fleet, injecting({{.at = milliseconds(20), .kind = Kind::kill, .peer = killed}}));
    EXPECT_EQ(run.result.violations, std::vector<std::string>{}) << killed;
    EXPECT_EQ(run.result.lost, std::vector<PeerId>{killed});
    EXPECT_EQ(run.result.broken_by, std::set<PeerId>{}) << "the fleet goes on";
    EXPECT_EQ(run.result.chains_ended, std::set<PeerId>{killed});
    const PeerId partner = killed ^ 1U;
    const PeerId other = killed < 2 ? 2 : 0;
    EXPECT_LT(run.finals.at(partner).round, file.rounds);
    EXPECT_EQ(run.finals.at(other).round, file.rounds);
    EXPECT_EQ(run.finals.at(other + 1).round, file.rounds);
    const FleetRecord& end = run.records.back();
    EXPECT_EQ(end.peers, 1U) << "of two models one is whole";
    EXPECT_EQ(end.mean.loss, end.loss_local);
    EXPECT_EQ(end.consensus, 0);
  }
}

TEST(ChainFaults, WhoLosesAStageEndsAlone) {
  expect_to_end_alone(slow_chains());
  ChainFleet stream = slow_chains().streamed(false);
  stream.rounds = 1000;  // its rounds are shorter
  expect_to_end_alone(stream);
}

/// The rest of the only chain is no model, so the fleet has neither a loss nor a hash.
TEST(ChainFaults, TheOnlyChainThatLosesAStageLeavesNoModel) {
  ChainFleet file = slow_chains();
  file.chains = 1;
  file.stages = 3;
  const Assembly fleet = file.assembly();
  for (PeerId killed = 0; killed < 3; ++killed) {
    const ChainRun run = run_chains(
        fleet, injecting({{.at = milliseconds(20), .kind = Kind::kill, .peer = killed}}));
    EXPECT_EQ(run.finals.size(), 2U);
    ASSERT_FALSE(run.records.empty()) << "it had a model until then";
    for (const FleetRecord& record : run.records) {
      EXPECT_EQ(record.peers, 1U) << killed;
      EXPECT_TRUE(std::isfinite(record.mean.loss)) << killed;
      EXPECT_LT(record.round, run.finals.begin()->second.round) << "no record of the end";
    }
  }
}

/// A stage that averages with a stopped peer waits for it until the deadline, and the rest of its
/// chain waits for that stage even longer. A lagging chain ends when the other chains end.
TEST(ChainFaults, AStopLongerThanTheDeadlineEndsNoChain) {
  ChainFleet file = slow_chains();
  for (const char* order : {"lian", "atc", "cta"})
    for (const PeerId chains : {2U, 3U}) {
      file.chains = chains;
      file.method = fmt::format("{{ kind: d-psgd, order: {} }}", order);
      Fleet patient = read_fleet_text(file.text());
      patient.faults.deadline = milliseconds(300);
      patient.faults.heartbeat = milliseconds(20);
      patient.faults.dead_after = milliseconds(100);
      const Assembly fleet(std::move(patient));
      for (PeerId peer = 0; peer < fleet.fleet.size(); ++peer) {
        const ChainRun run = run_chains(fleet, injecting({{.at = milliseconds(20),
                                                           .kind = Kind::stop,
                                                           .peer = peer,
                                                           .length = milliseconds(800)}}));
        EXPECT_EQ(run.result.chains_ended, std::set<PeerId>{}) << file.text() << peer;
        Round most = 0;
        for (const auto& [id, report] : run.finals) most = std::max(most, report.round);
        EXPECT_EQ(most, 200U);
        for (const auto& [id, report] : run.finals) EXPECT_GT(report.round, 100U) << id;
      }
    }
}

/// On the fleet's own network, part of a model takes twenty deadlines, and activations queue after
/// it.
TEST(ChainFaults, ASlowNetworkEndsNoChain) {
  ChainFleet file = slow_chains();
  file.rounds = 4;
  file.hidden = "[200, 200, 200, 200]";
  file.more = "network: { latency: 1 ms, bandwidth: 1 Mbit }\n";
  for (const ChainFleet& each : {file, file.streamed(false)}) {
    Fleet patient = read_fleet_text(each.text());
    patient.faults.deadline = milliseconds(100);
    patient.faults.heartbeat = milliseconds(20);
    patient.faults.dead_after = milliseconds(100);
    const Assembly fleet(std::move(patient));
    const ChainRun run = run_chains(fleet);
    EXPECT_EQ(run.result.chains_ended, std::set<PeerId>{}) << each.text();
    for (const auto& [id, report] : run.finals) EXPECT_EQ(report.round, 4U) << each.text() << id;
  }
}

/// A stage that is alive but computes longer than the limit ends its chain, which is reported.
TEST(ChainFaults, AStageThatDoesNotGetOnEndsItsChain) {
  ChainFleet file = slow_chains();
  Fleet patient = read_fleet_text(file.text());
  patient.faults.deadline = milliseconds(100);
  patient.faults.heartbeat = milliseconds(20);
  patient.faults.dead_after = milliseconds(100);
  patient.peers[1].speed = 1e-6;
  const ChainRun run = run_chains(Assembly(std::move(patient)));
  EXPECT_EQ(run.result.chains_ended, std::set<PeerId>{1});
  EXPECT_FALSE(run.result.whole());
  EXPECT_LT(run.finals.at(0).round, 200U);
  EXPECT_EQ(run.finals.at(2).round, 200U);
  EXPECT_EQ(run.finals.at(3).round, 200U);
}

/// If no chain can continue, the run ends and reports the cause.
TEST(ChainFaults, AFleetOfOneChainEndsWithIt) {
  ChainFleet file = slow_chains();
  file.chains = 1;
  file.stages = 3;
  const Assembly fleet = file.assembly();
  const ChainRun run =
      run_chains(fleet, injecting({{.at = milliseconds(20), .kind = Kind::kill, .peer = 1}}));
  EXPECT_EQ(run.result.violations, std::vector<std::string>{});
  EXPECT_EQ(run.result.broken_by, std::set<PeerId>{1});
  EXPECT_EQ(run.finals.at(0).round, run.finals.at(2).round);
}

/// A false gradient is accepted as it is, and its chain stalls until the deadline of chains. A peer
/// that has finished waits equally long for the liar's honest partner.
TEST(ChainFaults, ALiarsPartnerIsWaitedForUntilItsChainHasEnded) {
  const Assembly fleet(read_fleet_text(
      "version: 1\nname: sw\nseed: 5\npeers: 4\nparallel: { stages: 2, microbatches: 2 }\n"
      "data: { kind: blobs, features: 6, classes: 3, train: 200, test: 50 }\n"
      "model: { kind: mlp, hidden: [9, 7, 8] }\n"
      "train: { batch: 8, optimizer: { kind: sgd, lr: 0.02 } }\n"
      "algorithm: { kind: d-psgd, order: cta }\nstop: { rounds: 40 }\n"
      "simulate: { flops: 0.2 GFLOP/s }\nnetwork: { latency: 0.1 ms }\n"
      "faults: { deadline: 50 ms }\n"));
  SwarmOptions options;
  options.first = options.last = 239;
  const SwarmResult result = swarm(fleet, options);
  EXPECT_GT(result.faults[static_cast<std::size_t>(Fault::lie)], 0U);
  EXPECT_EQ(result.texts, std::vector<std::string>{});
}

/// Stages after a liar may be held up one after the other, each for as long as their chain. A
/// finished peer waits for all, because each reports that it waits.
TEST(ChainFaults, StagesBehindALiarAreWaitedForOneAfterTheOther) {
  const Assembly fleet(read_fleet_text(
      "version: 1\nname: sw\nseed: 893370\npeers: 16\n"
      "parallel: { stages: 4, microbatches: 2, ahead: all }\n"
      "data: { kind: blobs, features: 5, classes: 3, train: 208, test: 50, "
      "partition: { kind: by-label, classes_per_peer: 1 } }\n"
      "model: { kind: mlp, hidden: [6, 5, 7, 4] }\n"
      "train: { batch: 4, optimizer: { kind: sgd, lr: 0.1, momentum: 0.3, schedule: linear, "
      "warmup: 25 } }\n"
      "algorithm: { kind: nids, codec: bf16 }\ntopology: { kind: path, weights: lazy }\n"
      "stop: { rounds: 30 }\nevaluate: { every: 5 rounds }\ncheckpoint: { every: 18 rounds }\n"
      "simulate: { flops: 50 MFLOP/s }\nnetwork: { latency: 1.84 ms, bandwidth: 1 Gbit }\n"
      "faults: { deadline: 300 ms }\n"));
  SwarmOptions options;
  options.first = 300001;
  options.last = 300020;
  const SwarmResult result = swarm(fleet, options);
  EXPECT_GT(result.faults[static_cast<std::size_t>(Fault::lie)], 0U);
  EXPECT_EQ(result.texts, std::vector<std::string>{});
}

/// Chains of every drawn shape, with every drawn fault.
TEST(ChainFaults, TheSwarmFindsNothing) {
  SwarmResult all;
  std::size_t fleets = 0;
  for (std::uint64_t k = 0; k < 70; ++k) {
    Rng rng = Rng(12).derive("swarm").derive(k);
    ChainFleet drawn = draw_chains(rng);
    if (k >= 40) drawn = drawn.streamed(k % 2 == 0);
    drawn.rounds = 30;
    drawn.optimizer = "{ kind: sgd, lr: 0.02 }";
    drawn.method = one_of<std::string>(
        rng, {"{ kind: d-psgd, order: lian }", "{ kind: d-psgd, order: atc }",
              "{ kind: d-psgd, order: cta }", "{ kind: gradient-tracking }", "{ kind: all-reduce }",
              "{ kind: choco-sgd, codec: int8 }", "{ kind: isolated }"});
    if (drawn.method.find("tracking") != std::string::npos) drawn.local_steps = 1;
    if (drawn.method.find("all-reduce") != std::string::npos) drawn.local_steps = 1;
    drawn.more = "simulate: { flops: 0.2 GFLOP/s }\nnetwork: { latency: 100 us }\n";
    const Assembly fleet = drawn.assembly();
    if (!swarm_objection(fleet).empty()) continue;
    ++fleets;
    SwarmOptions options;
    options.first = 1;
    options.last = 10;
    const SwarmResult result = swarm(fleet, options);
    EXPECT_EQ(told(result), "") << drawn.text();
    all.add(result);
  }
  EXPECT_GT(fleets, 55U);
  EXPECT_GT(all.sum_of_faults(), 1000U);
}

}  // namespace
}  // namespace gv
