#include "graph/schedule/schedule.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <stdexcept>

#include <gtest/gtest.h>

#include "graph/mixing/optimal_weights.h"
#include "graph/schedule/sequences.h"
#include "graph/schedules.h"
#include "graph/topologies.h"

namespace gv {
namespace {

std::unique_ptr<MixingSchedule> schedule(const char* text, PeerId n) {
  return make_schedule(parse_schedule(text), n);
}

class EverySchedule : public ::testing::TestWithParam<const char*> {};

INSTANTIATE_TEST_SUITE_P(Schedule,
                         EverySchedule,
                         ::testing::Values("ring",
                                           "exponential",
                                           "one-peer-exponential",
                                           "random-matching:seed=3",
                                           "base:k=1",
                                           "base:k=2",
                                           "base:k=4",
                                           "od-equi-dyn:eta=0.5,seed=2",
                                           "od-equi-dyn:eta=1,m=3,seed=2",
                                           "ou-equi-dyn:eta=0.5,seed=2",
                                           "ou-equi-dyn:eta=0.7,m=3,seed=2",
                                           "matcha:budget=0.5,seed=4,graph=ring",
                                           "matcha:budget=0.3,seed=4,graph=complete"));

/// The matrix is assembled from the rows that peers compute alone, and its own constructor checks
/// it; its receivers must be those that the peers named.
TEST_P(EverySchedule, IsDoublyStochasticInEveryRound) {
  for (PeerId n = 1; n <= 33; ++n) {
    const auto s = schedule(GetParam(), n);
    ASSERT_EQ(s->size(), n);
    const std::uint64_t rounds = s->period() > 0 ? s->period() : 20;
    for (std::uint64_t k = 0; k < rounds; ++k) {
      SCOPED_TRACE("n = " + std::to_string(n) + ", round " + std::to_string(k));
      const MixingMatrix w = s->matrix(k);
      std::vector<double> ones(n, 1.0);
      std::vector<double> sums(n);
      w.apply_transposed(ones.data(), sums.data());
      for (PeerId i = 0; i < n; ++i) {
        EXPECT_NEAR(sums[i], 1, 1e-12);
        EXPECT_EQ(w.row(i).receivers, s->row(k, i).receivers);
      }
    }
  }
}

TEST_P(EverySchedule, IsTheSameFarOutAndEverywhere) {
  const auto here = schedule(GetParam(), 12);
  const auto there = schedule(GetParam(), 12);
  for (const std::uint64_t k : {0ULL, 1ULL, 1'000'003ULL, ~0ULL}) {
    for (PeerId i = 0; i < 12; ++i) {
      const Neighborhood row = here->row(k, i);
      EXPECT_EQ(row.peers, there->row(k, i).peers);
      EXPECT_EQ(row.weights, there->row(k, i).weights);
      if (here->period() == 0) continue;
      EXPECT_EQ(row.peers, there->row(k % here->period(), i).peers);
    }
  }
}

/// The links contain every edge that occurs and, for periodic schedules, no others.
TEST_P(EverySchedule, LinksAreWhoStandsInARow) {
  for (const PeerId n : {1U, 2U, 5U, 8U, 12U}) {
    const auto s = schedule(GetParam(), n);
    const std::uint64_t rounds = s->period() > 0 ? s->period() : 2000;
    for (PeerId i = 0; i < n; ++i) {
      std::set<PeerId> peers;
      std::set<PeerId> receivers;
      for (std::uint64_t k = 0; k < rounds; ++k) {
        const Neighborhood row = s->row(k, i);
        peers.insert(row.peers.begin(), row.peers.end());
        receivers.insert(row.receivers.begin(), row.receivers.end());
      }
      const Neighborhood links = s->links(i);
      EXPECT_EQ(links.peers, std::vector<PeerId>(peers.begin(), peers.end())) << n << " " << i;
      EXPECT_EQ(links.receivers, std::vector<PeerId>(receivers.begin(), receivers.end()));
      EXPECT_EQ(links.weights, std::vector<double>(peers.size()));
    }
  }
}

/// Both ends of an exchange take the weight from their own rows.
TEST_P(EverySchedule, BothEndsOfAnEdgeReadTheSameBits) {
  const auto s = schedule(GetParam(), 12);
  for (std::uint64_t k = 0; k < 50 && !s->directed(); ++k) {
    for (PeerId i = 0; i < 12; ++i) {
      const Neighborhood row = s->row(k, i);
      for (std::size_t a = 0; a < row.peers.size(); ++a) {
        const Neighborhood other = s->row(k, row.peers[a]);
        const auto back = std::ranges::find(other.peers, i) - other.peers.begin();
        EXPECT_EQ(static_cast<float>(row.weights[a]),
                  static_cast<float>(other.weights.at(static_cast<std::size_t>(back))));
      }
    }
  }
}

/// Simulates the schedule: all peers except i continue while they can.
TEST_P(EverySchedule, NobodyGetsFurtherAheadThanTheLead) {
  constexpr PeerId n = 7;
  const auto s = schedule(GetParam(), n);
  for (std::uint64_t round = 0; round < 5; ++round) {
    for (PeerId i = 0; i < n; ++i) {
      std::vector<std::uint64_t> clock(n, round);
      for (bool moved = true; moved;) {
        moved = false;
        for (PeerId j = 0; j < n; ++j) {
          const auto ready = [&](PeerId p) { return p != i && clock[p] >= clock[j]; };
          if (j == i || !std::ranges::all_of(s->row(clock[j], j).peers, ready)) continue;
          ++clock[j];
          moved = true;
        }
      }
      EXPECT_EQ(longest_lead(*s, round, i), std::ranges::max(clock) - round) << i;
    }
  }
}

TEST_P(EverySchedule, NameRoundTrips) {
  const std::string text = to_string(parse_schedule(GetParam()));
  EXPECT_EQ(to_string(parse_schedule(text)), text);
}

TEST(Schedule, RandomKindsChangeWithTheRoundAndTheSeed) {
  for (const char* text : {"random-matching:seed=", "od-equi-dyn:seed=", "ou-equi-dyn:seed="}) {
    const auto one = schedule((std::string(text) + "1").c_str(), 32);
    const auto two = schedule((std::string(text) + "2").c_str(), 32);
    int changes = 0;
    int differences = 0;
    for (std::uint64_t k = 0; k < 20; ++k) {
      changes += one->row(k, 0).peers != one->row(k + 1, 0).peers ? 1 : 0;
      differences += one->row(k, 0).peers != two->row(k, 0).peers ? 1 : 0;
    }
    EXPECT_GT(changes, 12) << text;
    EXPECT_GT(differences, 12) << text;
  }
}

TEST(Schedule, OnePeerMeansOnePeer) {
  for (const char* text :
       {"one-peer-exponential", "random-matching", "base:k=1", "od-equi-dyn", "ou-equi-dyn"}) {
    for (const PeerId n : {5U, 12U, 33U}) {
      const auto s = schedule(text, n);
      for (std::uint64_t k = 0; k < 20; ++k) {
        for (PeerId i = 0; i < n; ++i) {
          EXPECT_LE(s->row(k, i).peers.size(), 1U) << text << " " << n;
          EXPECT_LE(s->row(k, i).receivers.size(), 1U) << text << " " << n;
        }
      }
    }
  }
}

TEST(Schedule, RandomMatchingLeavesAtMostOneOut) {
  for (const PeerId n : {2U, 3U, 10U, 11U}) {
    const auto s = schedule("random-matching:seed=9", n);
    for (std::uint64_t k = 0; k < 50; ++k) {
      PeerId alone = 0;
      for (PeerId i = 0; i < n; ++i) alone += s->row(k, i).peers.empty() ? 1 : 0;
      EXPECT_EQ(alone, n % 2);
    }
  }
}

TEST(BaseGraph, HasTheDegreeAndTheLengthOfThePaper) {
  for (PeerId k = 1; k <= 5; ++k) {
    for (PeerId n = 1; n <= 64; ++n) {
      const std::vector<MixingMatrix> rounds = base_graph(n, k);
      const double bound = 2 * std::log(n) / std::log(k + 1) + 2;
      EXPECT_LE(static_cast<double>(rounds.size()), bound) << n << ", k = " << k;
      for (const MixingMatrix& w : rounds) {
        for (PeerId i = 0; i < n; ++i) EXPECT_LE(w.row(i).peers.size(), k) << n;
      }
    }
  }
  EXPECT_EQ(base_graph(8, 1).size(), 3U);
  EXPECT_EQ(base_graph(6, 1).size(), 4U);
  EXPECT_EQ(base_graph(5, 1).size(), 5U);
}

TEST(Matcha, KeepsItsBudget) {
  for (const double budget : {0.1, 0.4, 1.0}) {
    const Matcha m = matcha(build(parse_topology("erdos-renyi:p=0.4,seed=2"), 16), budget);
    double sum = 0;
    for (const double p : m.probability) {
      EXPECT_GE(p, 0);
      EXPECT_LE(p, 1);
      sum += p;
    }
    EXPECT_LE(sum, budget * static_cast<double>(m.matchings.size()) + 1e-9);
    EXPECT_LT(m.contraction, 1);
  }
}

/// The whole graph in every round uses the best constant weight: kappa = slem^2.
TEST(Matcha, WithTheFullBudgetIsTheBestConstant) {
  const Topology t = build(parse_topology("grid:4x4"), 16);
  const Matcha m = matcha(t, 1);
  EXPECT_NEAR(m.contraction, 0.841982853 * 0.841982853, 1e-7);
  const Neighborhood row = best_constant(t).row(0);
  EXPECT_NEAR(m.alpha, row.weights[0], 1e-4);
}

/// Links that hold the graph together get more activation than the others.
TEST(Matcha, PrefersTheBridge) {
  const Topology barbell =
      make_topology("barbell", 6, {{0, 1}, {0, 2}, {1, 2}, {2, 3}, {3, 4}, {3, 5}, {4, 5}});
  const Matcha m = matcha(barbell, 0.5);
  double bridge = 0;
  for (std::size_t j = 0; j < m.matchings.size(); ++j) {
    if (std::ranges::find(m.matchings[j], Edge{2, 3}) != m.matchings[j].end())
      bridge = m.probability[j];
  }
  EXPECT_DOUBLE_EQ(bridge, *std::ranges::max_element(m.probability));
  EXPECT_GT(bridge, 0.5);
}

TEST(Schedule, RefusesTheImpossible) {
  EXPECT_THROW(parse_schedule("base:q=2"), std::invalid_argument);
  EXPECT_THROW(parse_schedule("nonsense"), std::invalid_argument);
  EXPECT_THROW(schedule("base:k=0", 8), std::invalid_argument);
  EXPECT_THROW(schedule("od-equi-dyn:eta=1.5", 8), std::invalid_argument);
  EXPECT_THROW(schedule("matcha:budget=0,graph=ring", 8), std::invalid_argument);
  EXPECT_THROW(schedule("matcha:graph=exponential", 8), std::invalid_argument);
  EXPECT_THROW(schedule("matcha:graph=erdos-renyi:p=0.01", 30), std::invalid_argument);
}

}  // namespace
}  // namespace gv
