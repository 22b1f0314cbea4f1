#include "graph/best_graphs.h"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "graph/spectrum/spectrum.h"

namespace gv {
namespace {

TEST(Search, KeepsTheDegreeAndSortsByScore) {
  const auto found = best_graphs({.peers = 16, .max_degree = 4});
  ASSERT_GT(found.size(), 4U);
  EXPECT_TRUE(std::ranges::is_sorted(found, {}, &GraphCandidate::score));
  for (const GraphCandidate& c : found) {
    EXPECT_LE(c.most_neighbors, 4U) << c.name;
    const MixingMatrix w = metropolis(build(c.spec.topology, 16));
    EXPECT_NEAR(c.rate.per_round, spectrum(w).slem, 1e-9) << c.name;
  }
  const auto named = [&](const char* name) {
    return std::ranges::any_of(found, [&](const GraphCandidate& c) { return c.name == name; });
  };
  EXPECT_TRUE(named("ring"));
  EXPECT_TRUE(named("torus:4x4"));
  EXPECT_TRUE(named("hypercube"));
  EXPECT_FALSE(named("complete"));
  EXPECT_FALSE(named("symmetric-exponential"));
}

TEST(Search, FindsTheCompleteGraphWhereItIsAllowed) {
  EXPECT_EQ(best_graphs({.peers = 5, .max_degree = 4}).front().rate.per_round, 0);
}

TEST(Search, OnePeerPerRoundLeavesCirclesAndSchedules) {
  for (const GraphCandidate& c : best_graphs({.peers = 16, .max_degree = 1}))
    EXPECT_TRUE(c.name.starts_with("d-equi-static:m=1")) << c.name;
  const auto found = best_graphs({.peers = 16, .max_degree = 1, .seeds = 2, .schedules = true});
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(found.front().score, 4);  // exactly log2 16 rounds
}

TEST(Search, TheScoreCanBeReplaced) {
  const GraphScore most_neighbors = [](const GraphCandidate& c) { return -c.mean_neighbors; };
  const auto found = best_graphs({.peers = 16, .max_degree = 8, .score = most_neighbors});
  EXPECT_EQ(found.front().mean_neighbors, 8);
}

}  // namespace
}  // namespace gv
