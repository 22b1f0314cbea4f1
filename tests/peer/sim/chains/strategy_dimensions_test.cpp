#include <algorithm>
#include <set>

#include <gtest/gtest.h>

#include "peer/study/predict/parallel/proposals.h"
#include "tests/peer/sim/chains/unlike_fleets.h"

// Copies of stages and members that divide layers, in the search over ways.

namespace gv {
namespace {

/// Returns a way that the moves reach and that can run.
Strategy drawn_way(const StrategyCosts& costs, StrategyMoves& moves, Strategy from) {
  for (int k = 0; k < 10; ++k)
    if (Strategy next = moves.from(from); costs.can_run(next)) from = std::move(next);
  return from;
}

/// Every way that can_run accepts can be written in a file, and no other copies or members can. The
/// reader of files decides, which shares only the method's own objections with can_run.
TEST(StrategyDimensions, CanRunWhatAFileCanSay) {
  std::size_t copies = 0;
  std::size_t members = 0;
  std::size_t refused = 0;
  for (std::uint64_t k = 0; k < 40; ++k) {
    Rng rng = Rng(21).derive("runs").derive(k);
    UnlikeFleet f = draw_fleet(rng, 4 + 2 * static_cast<PeerId>(rng.below(3)), 4, 4);
    if (k % 2 == 0) f.method = "all-reduce";
    if (k % 4 == 0 && f.peers != 6) f.method = "{ kind: all-reduce, order: doubling }";
    const Assembly fleet(read_fleet_text(f.text()));
    const StrategyCosts costs = costs_of(fleet);
    StrategyMoves moves(costs, rng);
    Strategy way{.place = costs.as_numbered()};
    for (int step = 0; step < 30; ++step) {
      way = moves.from(way);
      const std::string text = f.text(parallel_of({.stages = costs.names(way),
                                                   .place = way.place,
                                                   .copies = way.copies,
                                                   .tensor = way.tensor,
                                                   .microbatches = way.microbatches,
                                                   .ahead = way.ahead}));
      // The graph or the method may exclude other numbers of chains.
      if (!way.is_plain() && way.chains() == 1) {
        EXPECT_EQ(costs.can_run(way), rate_of(text) > 0) << text;
      }
      if (!costs.can_run(way)) ++refused;
      if (!way.copies.empty()) ++copies;
      if (way.tensor > 1) ++members;
    }
  }
  EXPECT_GT(copies, 100U);
  EXPECT_GT(members, 100U);
  EXPECT_GT(refused, 20U);
}

/// The search skips a way if this lower bound is too slow already.
TEST(StrategyDimensions, RoundsTakeAtLeastWhatTheChainsDo) {
  std::set<PeerId> tensors;
  std::size_t copies = 0;
  for (std::uint64_t k = 0; k < 60; ++k) {
    Rng rng = Rng(22).derive("bound").derive(k);
    UnlikeFleet f = draw_fleet(rng, 4, 4, 4);
    if (k % 2 == 0) f.method = "all-reduce";
    if (k % 3 == 0) f.network += ", shape: per-link";
    const Assembly fleet(read_fleet_text(f.text()));
    const StrategyCosts costs = costs_of(fleet);
    StrategyMoves moves(costs, rng);
    for (int each = 0; each < 4; ++each) {
      const Strategy way = drawn_way(costs, moves, {.place = costs.as_numbered()});
      const double rounds = costs.rounds(way, f.batch).seconds_per_round;
      EXPECT_LE(costs.chain_seconds(way), rounds * (1 + 1e-4)) << f.text();
      tensors.insert(way.tensor);
      if (!way.copies.empty()) ++copies;
    }
  }
  EXPECT_EQ(tensors.size(), 3U);
  EXPECT_GT(copies, 10U);
}

double memory_in(const std::string& text, const Strategy& way) {
  const Assembly fleet(read_fleet_text(text));
  return costs_of(fleet).memory(way);
}

/// With the batch extrapolated to 0, only x and its gradient remain, with as many parameters as the
/// fleet's peers have.
TEST(StrategyDimensions, AMemberHasItsPartOfTheModelInMemory) {
  for (const PeerId tensor : {PeerId{1}, PeerId{2}, PeerId{4}}) {
    UnlikeFleet f{.peers = 4, .hidden = {24, 40, 16}, .speeds = {1, 1, 1, 1}};
    const PeerId stages = tensor == 4 ? 1 : 2;
    Strategy way{.stages = stages, .place = {0, 1, 2, 3}, .tensor = tensor};
    if (stages == 2) way.ends = {2};
    const std::string names = stages == 2 ? "[fc1, fc3]" : "[fc1]";
    const Assembly fleet(read_fleet_text(
        f.text(fmt::format("parallel: {{ stages: {}, tensor: {} }}\n", names, tensor))));
    std::size_t most = 0;
    for (PeerId i = 0; i < 4; ++i) most = std::max(most, fleet.size_of(i));
    f.batch = 4;
    const double four = memory_in(f.text(), way);
    f.batch = 8;
    const double eight = memory_in(f.text(), way);
    EXPECT_NEAR(2 * four - eight, 4.0 * 2 * static_cast<double>(most), 1) << tensor;
  }
}

/// All microbatches are under way at the first stage, and each copy holds its part.
TEST(StrategyDimensions, ACopyHasItsPartOfTheMicrobatchesInMemory) {
  UnlikeFleet f{.peers = 3, .hidden = {64, 8}, .speeds = {1, 1, 1}, .method = "all-reduce"};
  Strategy way{.stages = 2, .microbatches = 8, .ahead = ParallelSpec::all, .ends = {1}};
  const auto slots = [&](std::uint32_t batch) {
    f.batch = batch;
    return memory_in(f.text(), way);
  };
  way.place = {0, 1};
  const double alone = slots(16) - slots(8);
  way.place = {0, 1, 2};
  way.copies = {2, 1};
  const double of_two = slots(16) - slots(8);
  EXPECT_NEAR(of_two, alone / 2, 1e-6 * alone);
}

ParallelProposal found_in(const StrategyCosts& costs, std::uint64_t seed) {
  return search_strategies(costs, advise_parallel(costs), {.moves = 1000}, Rng(seed), nullptr).best;
}

/// The first layer takes nine times as long as the others but has few parameters, as convolutions
/// have. No cut makes equal stages, and averaging the whole model is expensive.
TEST(StrategyDimensions, CopiesAreFoundWhereStagesCannotBeMadeEqual) {
  const UnlikeFleet f{.peers = 4,
                      .hidden = {8, 256, 64},
                      .speeds = {1, 1, 1, 1},
                      .method = "all-reduce",
                      .network = "2 Mbit",
                      .batch = 12};
  const Assembly fleet(read_fleet_text(f.text()));
  ModelProfile profile = counted_profile(fleet);
  double others = 0;
  for (std::size_t k = 1; k < profile.pieces.size(); ++k) others += profile.forward(k, 1);
  profile.pieces.front().forward_seconds = {9 * others};
  profile.pieces.front().backward_seconds = {18 * others};
  const StrategyCosts costs(fleet, std::make_shared<const ModelProfile>(std::move(profile)), 0,
                            nullptr);
  const ParallelAdvice plain = advise_parallel(costs);
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    const ParallelProposal best = found_in(costs, seed);
    ASSERT_FALSE(best.copies.empty()) << seed;
    EXPECT_GE(best.copies.front(), 2U);
    EXPECT_GT(best.samples_per_second, 1.2 * plain.proposals.front().samples_per_second);
    EXPECT_GT(best.samples_per_second, 1.2 * plain.data_parallel.front().samples_per_second);
  }
}

/// Two samples a round cannot fill a chain, and a model of wide layers takes long to send. The
/// values of two samples that members exchange are few.
TEST(StrategyDimensions, MembersAreFoundWhereLayersAreWideAndLinksAreFast) {
  const UnlikeFleet f{.peers = 2,
                      .hidden = {512, 512},
                      .speeds = {1, 1},
                      .network = "100 Mbit",
                      .latency = "1 us",
                      .batch = 2};
  const Assembly fleet(read_fleet_text(f.text()));
  const StrategyCosts costs = costs_of(fleet);
  const double plain = best_of_all(f, modules_of(costs), true);
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    const ParallelProposal best = found_in(costs, seed);
    EXPECT_EQ(best.tensor, 2U) << seed;
    EXPECT_GT(best.samples_per_second, 1.1 * plain);
  }
}

}  // namespace
}  // namespace gv
