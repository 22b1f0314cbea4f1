#include <gtest/gtest.h>

#include "gossip/stage_turns.h"
#include "peer/sim/blank_replica.h"
#include "tests/peer/chains/chain_fleets.h"

// What a chain does in time: how long it stands idle, how much it keeps, how it stops and goes on.

namespace gv {
namespace {

/// A stage whose work is the same as every other one's, and which counts what is under way.
class EvenStage : public BlankReplica {
 public:
  EvenStage(Objective& none, std::size_t& under_way, std::size_t& most)
      : BlankReplica(1, 1, none), under_way_(under_way), most_(most) {}

  void forward(std::uint32_t, Vector, const Buffer*, Buffer*) override {
    most_ = std::max(most_, ++under_way_);
  }
  double backward(std::uint32_t, Vector, Buffer*, const Buffer*) override {
    --under_way_;
    return 0;
  }
  double gradient_flops() const override { return 3e12; }

 private:
  std::size_t& under_way_;
  std::size_t& most_;
};

/// GPipe, section 2.3: the bubble is (p - 1) / (m + p - 1) of the time. It is the same whatever is
/// sent ahead, as long as the network takes no time.
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
        const std::unique_ptr<Objective> none = fleet.evaluator();
        std::vector<std::size_t> under_way(stages), most(stages);
        SimulationOptions options;
        options.threads = 1;
        options.rounds = 1;
        options.replica = [&](PeerId i) {
          return std::make_unique<EvenStage>(*none, under_way[i], most[i]);
        };
        Observer blind(stages + 1, nullptr, {});
        const SimulationResult result = simulate(fleet, blind, options);
        const double work =
            3e12 / fleet.fleet.flops;  // of one stage; its step is nothing beside it
        const double m = microbatches;
        const double expected = (stages - 1) / (m + stages - 1);
        EXPECT_NEAR(1 - work / in_seconds(result.virtual_time), expected, 1e-9) << file.text();
        for (PeerId s = 0; s < stages; ++s) {
          const auto steps =
              ahead == "all" ? microbatches : static_cast<std::uint32_t>(std::stoul(ahead));
          EXPECT_LE(most[s], window_of(s, stages, steps, microbatches) + 1) << file.text();
        }
      }
    }
  }
}

TEST(ChainCourse, GoesOnFromAnyRoundAsIfNothingHadBeen) {
  for (std::uint64_t k = 0; k < 10; ++k) {
    Rng rng = Rng(9).derive("resumed").derive(k);
    ChainFleet drawn = draw_chains(rng);
    const Assembly fleet = drawn.assembly();
    const Round at = 1 + rng.below(drawn.rounds - 1);
    std::vector<Checkpoint> kept(fleet.fleet.size());
    SimulationOptions first;
    first.threads = 1;
    first.until = at;
    first.keep = at;
    first.on_store = [&](PeerId i, Round round, std::vector<std::byte> state) {
      kept[i] = Checkpoint{fleet.fleet.digest, fleet.model_digest, i, round, std::move(state)};
    };
    run_chains(fleet, first);
    SimulationOptions second;
    second.resume = kept;
    EXPECT_EQ(run_chains(fleet, second).hashes.params, run_chains(fleet).hashes.params)
        << drawn.text() << "from round " << at;
  }
}

/// Who is told to stop does so after its round, and the others of its chain cannot go further.
TEST(ChainCourse, StopsEverywhereInOneRound) {
  std::size_t early = 0;
  for (std::uint64_t k = 0; k < 40; ++k) {
    Rng rng = Rng(10).derive("stopped").derive(k);
    ChainFleet drawn = draw_chains(rng);
    drawn.rounds = 20;
    drawn.method = one_of<std::string>(
        rng,
        {"{ kind: d-psgd, order: lian }", "{ kind: d-psgd, order: atc }", "{ kind: all-reduce }"});
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
    early += run.finals.at(whom).round < drawn.rounds ? 1 : 0;
  }
  EXPECT_GT(early, 20U);
}

}  // namespace
}  // namespace gv
