#include <array>
#include <map>
#include <set>

#include <gtest/gtest.h>

#include "gossip/seam/stage.h"
#include "peer/sim/blank_replica.h"
#include "tests/peer/sim/chains/chain_fleets.h"

// The course of a chain in time: its idle time, its memory, and how it stops and resumes.

namespace gv {
namespace {

/// Observations of a stage.
struct Seen {
  std::size_t under_way = 0, most = 0, went = 0;  ///< forward and not back: now, at most; all
  std::set<std::string> versions{};               ///< the vectors that hold older weights
};

/// A stage with as much work as every other one.
class EvenStage : public BlankReplica {
 public:
  EvenStage(Objective& none, Seen& seen) : BlankReplica(1, 1, none), seen_(seen) {}

  Vector vector(std::string_view name, std::optional<std::uint32_t> neighbor) override {
    if (name.starts_with("x ")) seen_.versions.emplace(name);
    return BlankReplica::vector(name, neighbor);
  }
  void forward(std::uint32_t, Vector, const Buffer*, Buffer*) override {
    ++seen_.went;
    seen_.most = std::max(seen_.most, ++seen_.under_way);
  }
  double backward(std::uint32_t, Vector, Buffer*, const Buffer*) override {
    --seen_.under_way;
    return 0;
  }
  double gradient_flops() const override { return work; }

  static constexpr double work = 3e12;

 private:
  Seen& seen_;
};

/// Results of a fleet of such stages: observations of each, and the time of each round of peer 0.
struct EvenRun {
  std::vector<Seen> seen;
  std::map<Round, Time> at{};
  Time end{0};
};
EvenRun run_even(const Assembly& fleet, Round rounds) {
  EvenRun run{.seen = std::vector<Seen>(fleet.fleet.size())};
  const std::unique_ptr<Objective> none = fleet.evaluator();
  SimulationOptions options;
  options.threads = 1;
  options.rounds = rounds;
  options.replica = [&](PeerId i) { return std::make_unique<EvenStage>(*none, run.seen[i]); };
  options.on_progress = [&](Round round, Time now) { run.at[round] = now; };
  Observer blind(fleet.fleet.size() + 1, nullptr, {});
  run.end = simulate(fleet, blind, options).virtual_time;
  return run;
}

/// GPipe, section 2.3: the bubble is (p - 1) / (m + p - 1) of the time, for every `ahead` if the
/// network takes no time.
TEST(ChainCourse, StandsIdleAsLongAsTheoryHasIt) {
  for (const PeerId stages : {1U, 2U, 4U, 5U}) {
    for (const std::uint32_t microbatches : {1U, 4U, 12U}) {
      for (const std::string ahead : {"1", "2", "all"}) {
        ChainFleet file;
        file.chains = 1;
        file.stages = stages;
        file.batch = 12;
        file.microbatches = microbatches;
        file.ahead = ahead;
        file.method = "{ kind: isolated }";
        const Assembly fleet = file.assembly();
        const EvenRun run = run_even(fleet, 1);
        // The work of one stage, compared with which its step takes no time.
        const double work = EvenStage::work / fleet.fleet.flops;
        const double m = microbatches;
        const double expected = (stages - 1) / (m + stages - 1);
        EXPECT_NEAR(1 - work / in_seconds(run.end), expected, 1e-9) << file.text();
        for (PeerId s = 0; s < stages; ++s) {
          const auto steps =
              ahead == "all" ? microbatches : static_cast<std::uint32_t>(std::stoul(ahead));
          EXPECT_LE(run.seen[s].most, window_of(s, stages, steps, microbatches) + 1) << file.text();
        }
      }
    }
  }
}

/// If minibatches follow each other, all stages are busy, except at the beginning and the end. A
/// stage has as many minibatches under way as there are stages from it on, and as many versions of
/// its weights, x included; with vertical sync as many as there are stages. All that goes forward
/// comes back before the end.
TEST(ChainCourse, WithoutAFlushEqualStagesAreNeverIdle) {
  constexpr Round rounds = 40;
  for (PeerId stages = 1; stages <= 5; ++stages) {
    for (const bool sync : {false, true}) {
      ChainFleet file;
      file.chains = 1;
      file.stages = stages;
      file.method = "{ kind: isolated }";
      const Assembly fleet = file.streamed(sync).assembly();
      const EvenRun run = run_even(fleet, rounds);
      const double round = in_seconds(run.at.at(30) - run.at.at(10)) / 20;
      const double work = EvenStage::work / fleet.fleet.flops;
      EXPECT_LT(1 - work / round, 0.01) << stages;
      EXPECT_GT(1 - work / round, -1e-6) << stages;
      for (PeerId s = 0; s < stages; ++s) {
        EXPECT_EQ(run.seen[s].most, stages - s);
        EXPECT_EQ(run.seen[s].versions.size() + 1, sync ? stages : stages - s);
        EXPECT_EQ(run.seen[s].went, rounds);
        EXPECT_EQ(run.seen[s].under_way, 0U);
      }
    }
  }
}

/// A method with one gradient more than rounds sends no further minibatch forward either.
TEST(ChainCourse, NothingGoesForwardThatDoesNotComeBack) {
  for (const Round rounds : {1, 2, 3, 10}) {
    ChainFleet file;
    file.stages = 4;
    file.method = "{ kind: gradient-tracking }";
    for (const Seen& stage : run_even(file.streamed(false).assembly(), rounds).seen) {
      EXPECT_EQ(stage.went, rounds + 1);
      EXPECT_EQ(stage.under_way, 0U);
    }
  }
}

/// Without a flush a restored chain fills its pipeline again, with the weights that it kept.
TEST(ChainCourse, GoesOnFromAnyRoundAsIfNothingHadBeen) {
  for (std::uint64_t k = 0; k < 34; ++k) {
    Rng rng = Rng(9).derive("resumed").derive(k);
    ChainFleet drawn = draw_chains(rng);
    if (k >= 10) drawn = drawn.streamed(k % 2 == 0);
    const Assembly fleet = drawn.assembly();
    const Round at = 1 + rng.below(drawn.rounds - 1);
    EXPECT_EQ(resumed_behind(fleet, at).hashes.params, run_chains(fleet).hashes.params)
        << drawn.text() << "from round " << at;
  }
}

/// A peer that is ordered to stop finishes its round, and the others of its chain cannot continue.
TEST(ChainCourse, StopsEverywhereInOneRound) {
  std::array<std::size_t, 2> early{};
  for (std::uint64_t k = 0; k < 100; ++k) {
    const bool stream = k >= 40;
    Rng rng = Rng(10).derive("stopped").derive(k);
    ChainFleet drawn = draw_chains(rng);
    if (stream) drawn = drawn.streamed(k % 2 == 0);
    drawn.rounds = 20;
    drawn.method = one_of<std::string>(
        rng,
        {"{ kind: d-psgd, order: lian }", "{ kind: d-psgd, order: atc }", "{ kind: all-reduce }"});
    if (stream && k % 5 == 0) drawn.method = "{ kind: gradient-tracking }";
    if (drawn.method == "{ kind: all-reduce }") drawn.local_steps = 1;
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
    const PeerId first = whom - whom % fleet.fleet.stages();
    for (PeerId s = 0; s < fleet.fleet.stages(); ++s)
      EXPECT_EQ(run.finals.at(first + s).round, run.finals.at(whom).round) << drawn.text() << whom;
    early[stream ? 1 : 0] += run.finals.at(whom).round < drawn.rounds ? 1 : 0;
  }
  EXPECT_GT(early[0], 20U);
  EXPECT_GT(early[1], 20U);
}

}  // namespace
}  // namespace gv
