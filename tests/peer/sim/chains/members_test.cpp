#include <algorithm>
#include <cmath>
#include <set>

#include <gtest/gtest.h>

#include "optim/models/network_cut.h"
#include "peer/record/joined_models.h"
#include "peer/sim/swarm.h"
#include "tests/peer/sim/chains/chain_fleets.h"
#include "tests/peer/sim/injecting.h"
#include "tests/peer/sim/told.h"
#include "tests/peer/wire/tcp/loopback_fleet.h"

// Stages whose layers are divided between members must end with the results of one process with
// whole layers. That process shares no code with the columns, the sums and the ranges.

namespace gv {
namespace {

using std::chrono::milliseconds;

/// Joins the model of a chain's members from the ranges that each holds. If several hold a range,
/// the value of the first member counts.
std::vector<float> joined_members(const ChainFleet& file,
                                  const Assembly& fleet,
                                  const ChainRun& run) {
  std::vector<float> model(fleet.dimension, std::nanf(""));
  for (PeerId i = fleet.chains.peers(); i-- > 0;) {
    const Report& report = run.finals.at(i);
    std::span<const float> left = report.model->floats();
    for (const Range& range : held_ranges(report)) {
      std::ranges::copy(left.first(range.count),
                        model.begin() + static_cast<std::ptrdiff_t>(range.begin));
      left = left.subspan(range.count);
    }
    EXPECT_TRUE(left.empty()) << file.text();
  }
  EXPECT_TRUE(std::ranges::none_of(model, [](float x) { return std::isnan(x); })) << file.text();
  return model;
}

double members_distance(std::span<const float> a, std::span<const float> b) {
  double difference = 0;
  double length = 0;
  for (std::size_t k = 0; k < a.size(); ++k) {
    difference += std::pow(static_cast<double>(a[k]) - static_cast<double>(b[k]), 2);
    length += std::pow(static_cast<double>(b[k]), 2);
  }
  return std::sqrt(difference / length);
}

/// Draws chains of stages that 2 or 4 members divide.
ChainFleet draw_members(Rng& rng) {
  ChainFleet file = draw_chains(rng);
  file.tensor = one_of<PeerId>(rng, {2, 4});
  file.chains = 1 + static_cast<PeerId>(rng.below(2));
  const std::vector<std::string> hidden{"[8, 12]", "[4, 16, 8]", "[12, 4, 8, 8]"};
  const auto deep = static_cast<PeerId>(rng.below(hidden.size()));
  file.hidden = hidden[deep];
  file.stages = 1 + static_cast<PeerId>(rng.below(std::min<PeerId>(3, deep + 2)));
  // The last layer, which is not divided, is in a stage with the layer before it.
  std::vector<std::string> names;
  for (PeerId s = 1; s <= file.stages; ++s) names.push_back(fmt::format("fc{}", s));
  file.begins = fmt::format("[{}]", fmt::join(names, ", "));
  file.local_steps = 1;
  return file;
}

std::vector<float> members_start(const Assembly& whole) {
  std::vector<float> x(whole.dimension);
  Buffer copy(x.size() * sizeof(float));
  whole.host_replica(0)->snapshot(Vector::x, {0, x.size()}, copy);
  std::ranges::copy(copy.floats(), x.begin());
  return x;
}

/// A step of rate 1 moves x by the gradient.
TEST(Members, HaveTheGradientOfTheUndivided) {
  for (std::uint64_t k = 0; k < 60; ++k) {
    Rng rng = Rng(61).derive("gradient").derive(k);
    ChainFleet file = draw_members(rng);
    file.chains = 1;
    file.rounds = 1;
    file.method = "{ kind: isolated }";
    file.optimizer = "{ kind: sgd, lr: 1 }";
    const Assembly fleet = file.assembly();
    const Assembly whole = file.whole().assembly();
    std::vector<float> shared = joined_members(file, fleet, run_chains(fleet));
    const ChainRun alone = run_chains(whole);
    const std::span<const float> one = alone.finals.at(0).model->floats();
    const std::vector<float> start = members_start(whole);
    std::vector<float> gradient(start.size());
    for (std::size_t i = 0; i < start.size(); ++i) {
      gradient[i] = start[i] - one[i];
      shared[i] = start[i] - shared[i];
    }
    EXPECT_LT(members_distance(shared, gradient), 1e-5) << file.text();
  }
}

TEST(Members, TrainAsTheUndividedDo) {
  for (std::uint64_t k = 0; k < 40; ++k) {
    Rng rng = Rng(62).derive("course").derive(k);
    ChainFleet file = draw_members(rng);
    file.method =
        one_of<std::string>(rng, {"{ kind: d-psgd, order: lian }", "{ kind: d-psgd, order: atc }",
                                  "{ kind: gradient-tracking }", "{ kind: all-reduce }"});
    const ChainRun members = run_chains(file.assembly());
    const ChainRun whole = run_chains(file.whole().assembly());
    ASSERT_EQ(members.records.size(), whole.records.size()) << file.text();
    for (std::size_t r = 0; r < members.records.size(); ++r) {
      const FleetRecord& a = members.records[r];
      const FleetRecord& b = whole.records[r];
      EXPECT_EQ(a.round, b.round) << file.text();
      EXPECT_EQ(a.peers, b.peers) << file.text();
      EXPECT_EQ(a.costs.samples, b.costs.samples) << file.text();
      EXPECT_NEAR(a.train_loss, b.train_loss, 1e-4) << file.text();
      EXPECT_NEAR(a.mean.loss, b.mean.loss, 1e-4) << file.text();
      EXPECT_NEAR(a.loss_local, b.loss_local, 1e-4) << file.text();
      EXPECT_NEAR(a.consensus, b.consensus, 1e-4 * (1 + b.consensus)) << file.text();
    }
  }
}

/// All members hold the last layer, which is not divided.
TEST(Members, HaveUndividedTensorsEqualAfterManyRounds) {
  for (const PeerId tensor : {2U, 4U}) {
    ChainFleet file;
    file.chains = 2;
    file.tensor = tensor;
    file.hidden = "[8, 12, 16]";
    file.rounds = 100;
    const Assembly fleet = file.assembly();
    const ChainRun run = run_chains(fleet);
    const std::size_t undivided = 3 * 16 + 3;  // fc4, of three classes
    for (PeerId chain = 0; chain < 2; ++chain) {
      std::set<std::vector<float>> seen;
      for (PeerId k = 0; k < tensor; ++k) {
        const PeerId i = chain * 2 * tensor + tensor + k;
        const std::span<const float> x = run.finals.at(i).model->floats();
        seen.insert({x.end() - static_cast<std::ptrdiff_t>(undivided), x.end()});
      }
      EXPECT_EQ(seen.size(), 1U) << tensor;
    }
  }
}

TEST(Members, OverTcpHaveTheBitsOfVirtualTime) {
  for (std::uint64_t k = 0; k < 8; ++k) {
    Rng rng = Rng(63).derive("tcp").derive(k);
    ChainFleet file = draw_members(rng);
    file.tensor = 2;
    if (k % 2 == 1) file.more = "network: { local: tcp }\n";
    const Assembly fleet = file.assembly();
    LoopbackFleet real(fleet);
    real.run();
    EXPECT_EQ(real.observer.params_hash(), in_virtual_time(fleet).hash) << file.text() << real.log;
  }
}

TEST(Members, GoOnFromAnyRoundAsIfNothingHadBeen) {
  for (std::uint64_t k = 0; k < 12; ++k) {
    Rng rng = Rng(64).derive("resumed").derive(k);
    const ChainFleet file = draw_members(rng);
    const Assembly fleet = file.assembly();
    const Round at = 1 + rng.below(file.rounds - 1);
    EXPECT_EQ(resumed_behind(fleet, at).hashes.params, run_chains(fleet).hashes.params)
        << file.text() << "from round " << at;
  }
}

/// Each layer takes 4 (t - 1) (out / t + in) bytes per row and member; the first layer has no
/// gradient by its input. Between stages, whole values go from each member to the same member of
/// the next.
TEST(Members, SendWhatTheFormulaSays) {
  const std::vector<double> widths{5, 8, 12, 16};  // features, then the layers that are divided
  for (const PeerId t : {2U, 4U})
    for (const std::uint32_t microbatches : {1U, 2U, 4U}) {
      ChainFleet file;
      file.chains = 1;
      file.stages = 1;
      file.tensor = t;
      file.microbatches = microbatches;
      file.hidden = "[8, 12, 16]";
      file.method = "{ kind: isolated }";
      const ChainRun run = run_chains(file.assembly());
      double bytes = 0;
      for (std::size_t layer = 1; layer < widths.size(); ++layer)
        bytes += 4.0 * (t - 1) * (widths[layer] / t + (layer > 1 ? widths[layer - 1] : 0));
      for (const auto& [peer, report] : run.finals)
        EXPECT_EQ(static_cast<double>(report.costs.model_bytes),
                  bytes * file.batch * static_cast<double>(file.rounds))
            << file.text();
    }
}

TEST(Members, StopEverywhereInOneRound) {
  std::size_t early = 0;
  for (std::uint64_t k = 0; k < 40; ++k) {
    Rng rng = Rng(65).derive("stopped").derive(k);
    ChainFleet file = draw_members(rng);
    file.chains = 1;
    file.rounds = 20;
    file.method = "{ kind: isolated }";
    const Assembly fleet = file.assembly();
    const auto whom = static_cast<PeerId>(rng.below(fleet.fleet.size()));
    const std::uint64_t when = rng.below(100);
    std::uint64_t instants = 0;
    SimulationOptions options;
    options.threads = 1;
    options.between = [&](const std::vector<Peer*>& peers) {
      if (instants++ == when) peers[whom]->stop();
    };
    const ChainRun run = run_chains(fleet, options);
    ASSERT_EQ(run.finals.size(), fleet.fleet.size()) << file.text();
    for (const auto& [peer, report] : run.finals)
      EXPECT_EQ(report.round, run.finals.at(whom).round) << file.text() << peer << " " << whom;
    early += run.finals.at(whom).round < file.rounds ? 1 : 0;
  }
  EXPECT_GT(early, 10U);
}

TEST(Members, TheDeathOfOneEndsItsChainAlone) {
  ChainFleet file;
  file.stages = 1;
  file.tensor = 2;
  file.hidden = "[8, 12]";
  file.rounds = 200;
  file.more = "simulate: { flops: 0.2 GFLOP/s }\nnetwork: { latency: 50 us }\n";
  const Assembly fleet = file.assembly();
  for (PeerId killed = 0; killed < 4; ++killed) {
    const ChainRun run = run_chains(
        fleet,
        injecting({{.at = milliseconds(20), .kind = Injection::Kind::kill, .peer = killed}}));
    EXPECT_EQ(run.result.violations, std::vector<std::string>{}) << killed;
    EXPECT_EQ(run.result.chains_ended, std::set<PeerId>{killed});
    const PeerId other = killed < 2 ? 2 : 0;
    EXPECT_EQ(run.finals.at(other).round, file.rounds);
    EXPECT_EQ(run.finals.at(other + 1).round, file.rounds);
    EXPECT_EQ(run.records.back().peers, 1U) << "of two models one is whole";
  }
}

/// A lying member once claimed to wait for an absent peer and then fell silent, while two honest
/// members of the next stage waited for ever.
TEST(Members, AFalseWordOfAnAbsenceHoldsNobodyUpForEver) {
  const Assembly fleet(read_fleet_text(
      "version: 1\nname: fleet-35\nseed: 349123\npeers: 8\n"
      "data: { kind: blobs, train: 24, test: 50, features: 5, classes: 3 }\n"
      "model: { kind: mlp, hidden: [6, 4, 8, 4] }\n"
      "train: { optimizer: { kind: sgd, lr: 0.1 }, batch: 7 }\n"
      "algorithm: { kind: d-psgd, codec: bf16 }\n"
      "topology: { kind: king-torus, weights: lazy }\n"
      "network: { latency: 0.688 ms }\nsimulate: { flops: 1 MFLOP/s }\nstop: { rounds: 30 }\n"
      "checkpoint: { every: 6 rounds }\nfaults: { deadline: 20 ms }\n"
      "parallel: { stages: [fc1, fc2, fc3, fc4], tensor: 2, microbatches: 7, ahead: all }\n"));
  SwarmOptions options;
  options.first = options.last = 350009;
  options.classes &= ~(FaultClasses{1} << static_cast<std::size_t>(Fault::accident));
  options.until = milliseconds(500);
  const SwarmResult result = swarm(fleet, options);
  EXPECT_EQ(result.texts, std::vector<std::string>{});
  EXPECT_GT(result.sum_of_faults(), 100U);
}

/// Stages with members of every drawn shape, with every drawn fault.
TEST(ChainFaults, TheSwarmFindsNothingWrongWithMembers) {
  SwarmResult all;
  for (std::uint64_t k = 0; k < 30; ++k) {
    Rng rng = Rng(61).derive("swarm").derive(k);
    ChainFleet drawn = draw_members(rng);
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

}  // namespace
}  // namespace gv
