#include <algorithm>
#include <cmath>
#include <set>

#include <gtest/gtest.h>

#include "peer/study/predict/parallel/proposals.h"
#include "tests/from_environment.h"
#include "tests/peer/sim/chains/unlike_fleets.h"

// The search over ways to divide a model, compared with all ways and with the partitioner.

namespace gv {
namespace {

/// Uses at most five modules and three machines. GRAPEVINE_SEARCHES sets the number of fleets.
TEST(StrategySearch, FindsTheBestOfAllWays) {
  for (std::uint64_t seed = 1; seed <= from_environment("GRAPEVINE_SEARCHES", 4); ++seed) {
    Rng rng = Rng(seed).derive("search");
    const auto peers = 2 + static_cast<PeerId>(seed % 2);
    const bool wide = seed % 4 >= 2;  // in half of the fleets members can be the best
    UnlikeFleet f = draw_fleet(rng, peers, 2 + rng.below(3), wide ? 8 * peers : 1);
    if (wide) {
      f.batch = 2;
      f.latency = "1 us";
      f.network = one_of<std::string>(rng, {"30 Mbit", "100 Mbit"});
      std::ranges::fill(f.speeds, f.speeds.front());
    }
    SCOPED_TRACE(fmt::format("seed {}\n{}", seed, f.text()));
    const Assembly fleet(read_fleet_text(f.text()));
    const StrategyCosts costs = costs_of(fleet);
    const std::vector<std::string> modules = modules_of(costs);
    ASSERT_LE(modules.size(), 5U);
    const StrategySearch found =
        search_strategies(costs, advise_parallel(costs), {.moves = 3000}, Rng(seed), nullptr);
    const double best = best_of_all(f, modules, false);
    // For a member's part of a layer, the profile and the replica round nanoseconds differently.
    EXPECT_NEAR(found.best.samples_per_second, best, 1e-5 * best);
    EXPECT_LE(found.moves, 3000U);
  }
}

/// With eight different machines, the result is never slower than the start, and the proposal
/// trains. GRAPEVINE_SEARCHES applies too.
TEST(StrategySearch, IsNeverSlowerThanWhatItBeginsWith) {
  for (std::uint64_t seed = 1; seed <= from_environment("GRAPEVINE_SEARCHES", 4); ++seed) {
    Rng rng = Rng(seed).derive("eight");
    UnlikeFleet f = draw_fleet(rng, 8, 3 + rng.below(6), seed % 2 == 0 ? 1 : 4);
    if (f.sums() && rng.below(2) == 1) f.method = "{ kind: all-reduce, order: doubling }";
    SCOPED_TRACE(fmt::format("seed {}\n{}", seed, f.text()));
    const Assembly fleet(read_fleet_text(f.text()));
    const StrategyCosts costs = costs_of(fleet);
    ParallelAdvice advice = advise_parallel(costs);
    double before = 0;
    for (const auto* all : {&advice.proposals, &advice.data_parallel})
      for (const ParallelProposal& p : *all)
        if (p.batch == f.batch) before = std::max(before, p.samples_per_second);
    const StrategySearch found =
        search_strategies(costs, advice, {.moves = 300}, Rng(seed), nullptr);
    const ParallelProposal& best = found.best;
    EXPECT_GE(best.samples_per_second, before);
    EXPECT_LE(found.accepted, found.moves);
    const Assembly proposed(read_fleet_text(f.text(parallel_of(best))));
    SimulationOptions two;
    two.rounds = 2;
    const ChainRun run = run_chains(proposed, two);
    EXPECT_EQ(run.result.violations, std::vector<std::string>{});
    for (const auto& [peer, report] : run.finals) EXPECT_EQ(report.round, 2U) << peer;
    add_found(advice, best);
    const std::vector<ParallelProposal>& way =
        best.is_divided() ? advice.proposals : advice.data_parallel;
    EXPECT_EQ(way.front().samples_per_second, best.samples_per_second);
  }
}

/// Another schedule would train another model.
TEST(StrategySearch, KeepsToTheScheduleOfTheFile) {
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    Rng rng = Rng(seed).derive("streams");
    const UnlikeFleet f = draw_fleet(rng, 4, 3 + rng.below(4), 1);
    const bool sync = seed % 2 == 0;
    const std::string text = f.text(
        fmt::format("parallel: {{ stages: 2, schedule: pipedream, vertical_sync: {} }}\n", sync));
    SCOPED_TRACE(text);
    const Assembly fleet(read_fleet_text(text));
    const StrategyCosts costs = costs_of(fleet);
    const ParallelAdvice advice = advise_parallel(costs);
    ASSERT_FALSE(advice.proposals.empty());
    const ParallelProposal best =
        search_strategies(costs, advice, {.moves = 200}, Rng(seed), nullptr).best;
    EXPECT_GE(best.samples_per_second, advice.proposals.front().samples_per_second);
    EXPECT_EQ(best.schedule, ParallelSpec::Schedule::pipedream);
    EXPECT_EQ(best.vertical_sync, sync);
    EXPECT_EQ(best.microbatches, 1U);
  }
}

/// Equal seeds and moves give equal ways.
TEST(StrategySearch, RepeatsWithItsSeed) {
  Rng rng = Rng(3).derive("repeats");
  const Assembly fleet(read_fleet_text(draw_fleet(rng, 6, 5, 6).text()));
  const StrategyCosts costs = costs_of(fleet);
  const ParallelAdvice advice = advise_parallel(costs);
  const auto search = [&] {
    return search_strategies(costs, advice, {.moves = 200}, Rng(5), nullptr);
  };
  const StrategySearch once = search();
  const StrategySearch again = search();
  EXPECT_EQ(once.best.place, again.best.place);
  EXPECT_EQ(once.best.stages, again.best.stages);
  EXPECT_EQ(once.accepted, again.accepted);
  EXPECT_EQ(once.best.samples_per_second, again.best.samples_per_second);
}

/// A proposal never exceeds a peer's memory. If no way fits, none is proposed.
TEST(StrategySearch, KeepsToTheMemoryThatThereIs) {
  Rng rng = Rng(4).derive("memory");
  const Assembly fleet(read_fleet_text(draw_fleet(rng, 4, 6, 4).text()));
  const auto profile = std::make_shared<const ModelProfile>(counted_profile(fleet));
  const double whole = StrategyCosts(fleet, profile, 0, nullptr).memory({.place = {0}});
  for (const double part : {0.7, 1e-6}) {
    const StrategyCosts costs(fleet, profile, part * whole, nullptr);
    const StrategySearch found =
        search_strategies(costs, advise_parallel(costs), {.moves = 200}, Rng(1), nullptr);
    EXPECT_LE(found.best.memory_bytes, part * whole);
    EXPECT_EQ(found.best.samples_per_second > 0, part > 0.1);
  }
}

/// Spearman's rank correlation of distinct values.
double rank_correlation(const std::vector<double>& a, const std::vector<double>& b) {
  const auto rank = [](const std::vector<double>& of, double value) {
    return static_cast<double>(std::ranges::count_if(of, [&](double v) { return v < value; }));
  };
  const auto n = static_cast<double>(a.size());
  double sum = 0;
  for (std::size_t k = 0; k < a.size(); ++k) sum += std::pow(rank(a, a[k]) - rank(b, b[k]), 2);
  return 1 - 6 * sum / (n * (n * n - 1));
}

/// Twelve ways, by the timetable and by real arithmetic in virtual time.
TEST(StrategySearch, PredictsTheOrderOfWaysThatAreSimulated) {
  Rng rng = Rng(9).derive("twelve");
  UnlikeFleet f = draw_fleet(rng, 4, 7, 1);
  f.method = "d-psgd";
  f.latency = "0.2 ms";
  f.batch = 8;
  const Assembly fleet(read_fleet_text(f.text()));
  const StrategyCosts costs = costs_of(fleet);
  std::vector<double> predicted;
  std::vector<double> simulated;
  while (predicted.size() < 12) {
    Strategy s{.stages = 4, .place = costs.as_numbered()};
    s.microbatches = one_of<std::uint32_t>(rng, {1, 2, 4, 8});
    s.ahead = one_of<std::uint32_t>(rng, {1, 2, 8});
    rng.shuffle(s.place);
    std::set<std::size_t> ends;
    while (ends.size() < 3) ends.insert(1 + rng.below(costs.pieces() - 1));
    s.ends.assign(ends.begin(), ends.end());
    const double seconds = costs.chain_seconds(s);
    if (std::ranges::find(predicted, seconds) != predicted.end()) continue;
    predicted.push_back(seconds);
    const Assembly one(read_fleet_text(f.text(parallel_of({.stages = costs.names(s),
                                                           .place = s.place,
                                                           .microbatches = s.microbatches,
                                                           .ahead = s.ahead}))));
    simulated.push_back(in_seconds(run_chains(one).result.virtual_time));
  }
  EXPECT_GE(rank_correlation(predicted, simulated), 0.9);
}

}  // namespace
}  // namespace gv
