#include <algorithm>
#include <cmath>
#include <set>

#include <gtest/gtest.h>

#include "peer/sim/blank_replica.h"
#include "peer/sim/swarm.h"
#include "peer/sim/world/audit.h"
#include "peer/study/predict/forecast/proposal.h"
#include "tests/peer/sim/chains/chain_fleets.h"
#include "tests/peer/sim/injecting.h"
#include "tests/peer/sim/told.h"
#include "tests/peer/wire/tcp/loopback_fleet.h"

// Chains whose stages have copies must end with the results of one process that takes the whole
// minibatch. That process shares no code with the copies, their turns and their averages.

namespace gv {
namespace {

using std::chrono::milliseconds;

/// Expects the copies of each stage to have equal bits. Returns the first copies, joined.
std::vector<float> joined(const ChainRun& run, const ChainFleet& file) {
  std::vector<float> model;
  PeerId i = 0;
  for (const PeerId copies : file.copies) {
    const std::span<const float> first = run.finals.at(i).model->floats();
    model.insert(model.end(), first.begin(), first.end());
    for (const PeerId end = i + copies; i < end; ++i)
      EXPECT_TRUE(std::ranges::equal(first, run.finals.at(i).model->floats()))
          << file.text() << "peer " << i;
  }
  return model;
}

/// Returns the distance of two models or gradients, relative to the length of the second.
double distance(std::span<const float> a, std::span<const float> b) {
  double difference = 0;
  double length = 0;
  for (std::size_t k = 0; k < a.size(); ++k) {
    difference += std::pow(static_cast<double>(a[k]) - static_cast<double>(b[k]), 2);
    length += std::pow(static_cast<double>(b[k]), 2);
  }
  return std::sqrt(difference / length);
}

std::vector<float> start_of(const Assembly& fleet) {
  std::vector<float> x(fleet.dimension);
  const std::unique_ptr<Replica> replica = fleet.host_replica(0);
  Buffer copy(x.size() * sizeof(float));
  replica->snapshot(Vector::x, {0, x.size()}, copy);
  std::ranges::copy(copy.floats(), x.begin());
  return x;
}

/// A step of rate 1 from one start moves x by the gradient.
TEST(Copies, HaveTheGradientOfOneProcess) {
  for (std::uint64_t k = 0; k < 60; ++k) {
    Rng rng = Rng(51).derive("gradient").derive(k);
    ChainFleet file = draw_copies(rng);
    file.rounds = 1;
    file.optimizer = "{ kind: sgd, lr: 1 }";
    const Assembly whole = file.whole().assembly();
    const std::vector<float> start = start_of(whole);
    std::vector<float> shared = joined(run_chains(file.assembly()), file);
    const ChainRun alone = run_chains(whole);
    const std::span<const float> one = alone.finals.at(0).model->floats();
    ASSERT_EQ(shared.size(), start.size());
    std::vector<float> gradient(start.size());
    for (std::size_t i = 0; i < start.size(); ++i) {
      gradient[i] = start[i] - one[i];
      shared[i] = start[i] - shared[i];
    }
    EXPECT_LT(distance(shared, gradient), 1e-5) << file.text();
  }
}

TEST(Copies, TrainAsOneProcessDoes) {
  for (std::uint64_t k = 0; k < 40; ++k) {
    Rng rng = Rng(52).derive("course").derive(k);
    const ChainFleet file = draw_copies(rng);
    const ChainRun chain = run_chains(file.assembly());
    const ChainRun whole = run_chains(file.whole().assembly());
    joined(chain, file);
    ASSERT_EQ(chain.records.size(), whole.records.size()) << file.text();
    for (std::size_t r = 0; r < chain.records.size(); ++r) {
      const FleetRecord& a = chain.records[r];
      const FleetRecord& b = whole.records[r];
      EXPECT_EQ(a.round, b.round) << file.text();
      EXPECT_EQ(a.peers, 1U) << "one model: " << file.text();
      EXPECT_EQ(a.costs.samples, b.costs.samples) << file.text();
      EXPECT_EQ(a.consensus, 0) << file.text();
      EXPECT_NEAR(a.train_loss, b.train_loss, 1e-4) << file.text();
      EXPECT_NEAR(a.mean.loss, b.mean.loss, 1e-4) << file.text();
      EXPECT_EQ(a.mean.loss, a.loss_local) << file.text();
    }
  }
}

/// With one copy each, the chain is the one without the key, with the same digest.
TEST(Copies, OfOneEachAreAPlainChain) {
  ChainFleet file;
  file.chains = 1;
  file.stages = 3;
  file.method = "{ kind: d-psgd }";
  ChainFleet ones = file;
  ones.copies = {1, 1, 1};
  EXPECT_EQ(run_chains(ones.assembly()).hashes.params, run_chains(file.assembly()).hashes.params);
  EXPECT_EQ(ones.assembly().fleet.digest, file.assembly().fleet.digest);
}

TEST(Copies, OverTcpHaveTheBitsOfVirtualTime) {
  for (std::uint64_t k = 0; k < 8; ++k) {
    Rng rng = Rng(53).derive("tcp").derive(k);
    ChainFleet drawn = draw_copies(rng);
    if (k % 2 == 1) drawn.more = "network: { local: tcp }\n";
    const Assembly fleet = drawn.assembly();
    LoopbackFleet real(fleet);
    real.run();
    EXPECT_EQ(real.observer.params_hash(), in_virtual_time(fleet).hash) << drawn.text() << real.log;
  }
}

TEST(Copies, GoOnFromAnyRoundAsIfNothingHadBeen) {
  for (std::uint64_t k = 0; k < 12; ++k) {
    Rng rng = Rng(54).derive("resumed").derive(k);
    const ChainFleet drawn = draw_copies(rng);
    const Assembly fleet = drawn.assembly();
    const Round at = 1 + rng.below(drawn.rounds - 1);
    EXPECT_EQ(resumed_behind(fleet, at).hashes.params, run_chains(fleet).hashes.params)
        << drawn.text() << "from round " << at;
  }
}

/// All peers do all rounds with the same bits, on any network and on machines of any speed.
TEST(Copies, NeverStandStill) {
  for (std::uint64_t k = 0; k < 150; ++k) {
    Rng rng = Rng(55).derive("speeds").derive(k);
    ChainFleet drawn = draw_copies(rng);
    const std::string instant = run_chains(drawn.assembly()).hashes.params;
    drawn.more = fmt::format(
        "simulate: {{ flops: {} MFLOP/s }}\nnetwork: {{ latency: {} us, jitter: {} us }}\n",
        1 + rng.below(200), 100 + rng.below(1000), rng.below(100));
    Fleet fleet = read_fleet_text(drawn.text());
    for (PeerSpec& peer : fleet.peers) peer.speed = one_of<double>(rng, {0.2, 0.5, 1, 3});
    const ChainRun run = run_chains(Assembly(std::move(fleet)));
    EXPECT_TRUE(run.result.whole()) << drawn.text();
    ASSERT_EQ(run.finals.size(), drawn.peers()) << drawn.text();
    for (const auto& [peer, report] : run.finals) EXPECT_EQ(report.round, drawn.rounds);
    EXPECT_EQ(run.hashes.params, instant) << drawn.text();
  }
}

TEST(Copies, StopEverywhereInOneRound) {
  std::size_t early = 0;
  for (std::uint64_t k = 0; k < 60; ++k) {
    Rng rng = Rng(56).derive("stopped").derive(k);
    ChainFleet drawn = draw_copies(rng);
    drawn.rounds = 20;
    const Assembly fleet = drawn.assembly();
    const auto whom = static_cast<PeerId>(rng.below(fleet.fleet.size()));
    const std::uint64_t when = rng.below(60);
    std::uint64_t instants = 0;
    SimulationOptions options;
    options.threads = 1;
    options.between = [&](const std::vector<Peer*>& peers) {
      if (instants++ == when) peers[whom]->stop();
    };
    const ChainRun run = run_chains(fleet, options);
    ASSERT_EQ(run.finals.size(), fleet.fleet.size()) << drawn.text();
    for (const auto& [peer, report] : run.finals)
      EXPECT_EQ(report.round, run.finals.at(whom).round) << drawn.text() << peer << " " << whom;
    early += run.finals.at(whom).round < drawn.rounds ? 1 : 0;
  }
  EXPECT_GT(early, 20U);
}

/// Cuts only make a chain with copies slower.
TEST(Copies, ACutChangesNoBit) {
  for (std::uint64_t k = 0; k < 24; ++k) {
    Rng rng = Rng(57).derive("cuts").derive(k);
    ChainFleet drawn = draw_copies(rng);
    drawn.rounds = 100;
    drawn.more = "simulate: { flops: 0.2 GFLOP/s }\nnetwork: { latency: 50 us }\n";
    const Assembly fleet = drawn.assembly();
    const auto peer = static_cast<PeerId>(rng.below(fleet.fleet.size()));
    const std::vector<PeerId> linked = links_of(fleet.plan(peer));
    if (linked.empty()) continue;
    const ChainRun run = run_chains(fleet, injecting({{.at = milliseconds(1 + rng.below(30)),
                                                       .kind = Injection::Kind::cut,
                                                       .peer = peer,
                                                       .other = one_of(rng, linked),
                                                       .length = milliseconds(10)}}));
    EXPECT_EQ(run.result.violations, std::vector<std::string>{}) << drawn.text();
    EXPECT_EQ(run.hashes.params, run_chains(fleet).hashes.params) << drawn.text();
  }
}

/// One dead copy loses the gradient of the whole minibatch. The others end with the model after the
/// last round that all took.
TEST(Copies, TheDeathOfAnyEndsTheRun) {
  ChainFleet file;
  file.chains = 1;
  file.stages = 3;
  file.copies = {3, 1, 2};
  file.microbatches = 4;
  file.method = "{ kind: all-reduce }";
  file.rounds = 400;
  file.more = "simulate: { flops: 0.2 GFLOP/s }\nnetwork: { latency: 50 us }\n";
  const Assembly fleet = file.assembly();
  for (PeerId killed = 0; killed < file.peers(); ++killed) {
    const ChainRun run = run_chains(
        fleet,
        injecting({{.at = milliseconds(20), .kind = Injection::Kind::kill, .peer = killed}}));
    EXPECT_EQ(run.result.violations, std::vector<std::string>{}) << killed;
    EXPECT_EQ(run.result.lost, std::vector<PeerId>{killed});
    EXPECT_EQ(run.result.broken_by, std::set<PeerId>{killed});
    EXPECT_FALSE(run.result.whole());
    EXPECT_EQ(run.finals.size(), file.peers() - 1);
    for (const auto& [peer, report] : run.finals) EXPECT_LT(report.round, file.rounds) << peer;
  }
}

/// Chains with copies of every drawn shape, with every drawn fault.
TEST(ChainFaults, TheSwarmFindsNothingWrongWithCopies) {
  SwarmResult all;
  for (std::uint64_t k = 0; k < 30; ++k) {
    Rng rng = Rng(59).derive("swarm").derive(k);
    ChainFleet drawn = draw_copies(rng);
    drawn.rounds = 30;
    drawn.optimizer = "{ kind: sgd, lr: 0.02 }";
    drawn.more = "simulate: { flops: 0.2 GFLOP/s }\nnetwork: { latency: 100 us }\n";
    const Assembly fleet = drawn.assembly();
    ASSERT_EQ(swarm_objection(fleet), "") << drawn.text();
    SwarmOptions options;
    options.first = 1;
    options.last = 10;
    const SwarmResult result = swarm(fleet, options);
    EXPECT_EQ(told(result), "") << drawn.text();
    all.add(result);
  }
  EXPECT_GT(all.sum_of_faults(), 500U);
}

/// A stage with a fixed amount of work for each microbatch.
class TimedStage : public BlankReplica {
 public:
  TimedStage(Objective& none, double work) : BlankReplica(1, 1, none), work_(work) {}

  void forward(std::uint32_t, Vector, const Buffer*, Buffer*) override {}
  double backward(std::uint32_t, Vector, Buffer*, const Buffer*) override { return 0; }
  double gradient_flops() const override { return work_; }

 private:
  double work_;
};

/// The purpose of copies: a stage with three times the work keeps pace if it has three peers. The
/// chain is then four times as fast as one machine, apart from its beginning and end.
TEST(Copies, OfASlowStageKeepPaceWithTheOthers) {
  ChainFleet file;
  file.chains = 1;
  file.stages = 2;
  file.batch = file.microbatches = 120;
  file.ahead = "all";
  file.copies = {3, 1};
  file.method = "{ kind: all-reduce }";
  const Assembly fleet = file.assembly();
  const std::unique_ptr<Objective> none = fleet.evaluator();
  SimulationOptions options;
  options.threads = 1;
  options.rounds = 1;
  options.replica = [&](PeerId i) {
    return std::make_unique<TimedStage>(*none, (i < 3 ? 9e12 : 3e12));
  };
  Observer blind(fleet.fleet.size() + 1, nullptr, {});
  const double seconds = in_seconds(simulate(fleet, blind, options).virtual_time);
  const double alone = (9e12 + 3e12) / fleet.fleet.flops;
  EXPECT_GT(alone / seconds, 3.7);
  EXPECT_LE(alone / seconds, 4.0);
}

/// With the weights of a chain without copies, the mean of a group is too short by their number.
class WrongWeights : public AccountedReplica {
 public:
  WrongWeights(std::unique_ptr<Replica> real, PeerId copies)
      : AccountedReplica(std::move(real)), copies_(static_cast<float>(copies)) {}

  void axpby(float a, Vector from, float b, Vector to, Range r) override {
    const bool adds = from == Vector::g && to != Vector::x;
    AccountedReplica::axpby(adds ? a / copies_ : a, from, to == Vector::g ? b / copies_ : b, to, r);
  }

 private:
  float copies_;
};

TEST(PlantedInCopies, TheWeightsOfAChainWithoutThemAreFoundByTheModel) {
  ChainFleet file;
  file.chains = 1;
  file.copies = {2, 1};
  file.microbatches = 4;
  file.method = "{ kind: all-reduce }";
  const Assembly fleet = file.assembly();
  const ChainRun whole = run_chains(file.whole().assembly());
  const std::span<const float> one = whole.finals.at(0).model->floats();
  for (const bool wrong : {false, true}) {
    SimulationOptions options;
    options.replica = [&](PeerId i) {
      return std::make_unique<WrongWeights>(fleet.host_replica(i), wrong && i < 2 ? 2 : 1);
    };
    EXPECT_EQ(distance(joined(run_chains(fleet, options), file), one) > 1e-5, wrong);
  }
}

/// A round takes the virtual time that `plan` predicts.
TEST(Copies, ArePlannedAsTheyRun) {
  for (std::uint64_t k = 0; k < 6; ++k) {
    Rng rng = Rng(58).derive("plan").derive(k);
    ChainFleet drawn = draw_copies(rng);
    drawn.rounds = 40;
    drawn.more =
        "simulate: { flops: 0.2 GFLOP/s }\nnetwork: { latency: 0.3 ms, bandwidth: 100 Mbit }\n";
    const Assembly fleet = drawn.assembly();
    const DryRun dry = dry_run(fleet, fleet.fleet.network);
    const double simulated = in_seconds(run_chains(fleet).result.virtual_time) / 40;
    EXPECT_NEAR(dry.seconds_per_round, simulated, 0.1 * simulated) << drawn.text();
  }
}

}  // namespace
}  // namespace gv
