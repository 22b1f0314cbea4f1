#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "tests/peer/sim/drawn_quadratic.h"

// GTAdam, compared with its paper's recursion in double precision on drawn graphs.

namespace gv {
namespace {

using Rows = DrawnQuadratic::Rows;

struct Adaptation {
  double beta1, beta2, epsilon, bound;
};

/// Draws an epsilon for which no step of such a rate oscillates, which would amplify rounding.
/// Draws bounds that most second moments reach, and bounds that none reaches.
Adaptation drawn_adaptation(Rng rng) {
  return {.beta1 = 0.95 * rng.uniform(),
          .beta2 = 0.999 * rng.uniform(),
          .epsilon = std::pow(10, -2 * rng.uniform()),
          .bound = std::pow(10, 3 - 5 * rng.uniform())};
}

/// Carnevale et al. 2023, Algorithm 1. `reached` counts the second moments that the bound cut.
Rows gt_adam(const DrawnQuadratic& q, const Adaptation& a, int rounds, int& reached) {
  Rows x = q.start;
  Rows g = q.gradient(x);
  Rows s = g;
  Rows m = q.nothing();
  Rows v = q.nothing();
  Rows d = q.nothing();
  for (int t = 0; t < rounds; ++t) {
    for (std::size_t i = 0; i < x.size(); ++i) {
      for (std::size_t k = 0; k < x[i].size(); ++k) {
        m[i][k] += (1 - a.beta1) * (s[i][k] - m[i][k]);
        v[i][k] += (1 - a.beta2) * (std::pow(s[i][k], 2) - v[i][k]);
        if (v[i][k] > a.bound) {
          v[i][k] = a.bound;
          ++reached;
        }
        d[i][k] = -m[i][k] * std::pow(v[i][k] + a.epsilon, -0.5);
      }
    }
    x = q.sum(1, q.mixed(x), q.gamma, d);
    const Rows next = q.gradient(x);
    s = q.sum(1, q.mixed(s), 1, q.sum(1, next, -1, g));
    g = next;
  }
  return x;
}

TEST(GtAdam, IsItsPapersRecursion) {
  constexpr int rounds = 25;
  int fleets_at_the_bound = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE(seed);
    DrawnQuadratic drawn("gt-adam", seed);
    const Adaptation a = drawn_adaptation(Rng(seed).derive("adaptation"));
    drawn.fleet.settings = {
        {"beta1", a.beta1}, {"beta2", a.beta2}, {"epsilon", a.epsilon}, {"bound", a.bound}};
    int reached = 0;
    expect_near(drawn.run(rounds), gt_adam(drawn, a, rounds, reached), 1e-4);
    fleets_at_the_bound += reached > 0 ? 1 : 0;
  }
  EXPECT_GT(fleets_at_the_bound, 5);
  EXPECT_LT(fleets_at_the_bound, 35);
}

TEST(GtAdam, ResumesWithItsMoments) {
  Fleet fleet = restless(5, "gt-adam");
  expect_it_resumes(fleet);
  fleet.codec = Codec{.kind = Codec::Kind::int8};
  expect_it_resumes(fleet);
}

/// Several pieces of a vector, the last one shorter. Each coordinate has its own moments.
TEST(GtAdam, TreatsEveryPieceAlike) {
  Fleet fleet = quadratic_fleet(3, "ring", "gt-adam", "");
  constexpr std::size_t d = 2 * piece_floats + 77;
  fleet.data.quadratic = {
      .dimension = d, .hessian = {0.5}, .noise = 0, .spread = 0, .start = 0, .centers = {}};
  fleet.stop.rounds = 4;
  const Result result = run_from(fleet, std::vector<Values>(3, Values(d, 2)));
  for (const Values& x : result.x) {
    EXPECT_LT(x[0], 2);
    EXPECT_EQ(std::ranges::count(x, x[0]), static_cast<std::ptrdiff_t>(d));
  }
}

/// Returns the distance of peers with different data from the optimum of all.
double adam_bias(const Fleet& fleet) {
  const Result result = run(fleet);
  double largest = 0;
  for (std::size_t k = 0; k < result.x[0].size(); ++k) {
    double optimum = 0;
    for (const Values& center : fleet.data.quadratic.centers)
      optimum += center[k] / static_cast<double>(result.x.size());
    for (const Values& x : result.x) largest = std::max(largest, std::abs(x[k] - optimum));
  }
  return largest;
}

TEST(GtAdam, LeavesNoBiasWhereAdamDoes) {
  Fleet fleet = quadratic_fleet(6, "ring", "gt-adam", "");
  fleet.data.quadratic = {
      .dimension = 3,
      .hessian = {1, 0.5, 0.25},
      .noise = 0,
      .spread = 0,
      .start = 0,
      .centers = {{3, 0, 1}, {0, -2, 1}, {0, 0, -4}, {1, 1, 1}, {-1, 4, 0}, {0, 0, -2}}};
  fleet.optimizer.lr = 0.02;
  fleet.settings = {{"beta2", 0.99}, {"epsilon", 0.01}};
  fleet.stop.rounds = 3000;
  EXPECT_LT(adam_bias(fleet), 1e-4);
  fleet.algorithm = "d-psgd";
  fleet.order = "lian";
  fleet.settings.clear();
  fleet.optimizer.kind = "adam";
  fleet.optimizer.beta2 = 0.99;
  fleet.optimizer.epsilon = 0.1;
  EXPECT_GT(adam_bias(fleet), 0.05);
}

TEST(GtAdam, RefusesWhatItCannotTrack) {
  Fleet fleet = quadratic_fleet(8, "ring", "gt-adam", "");
  EXPECT_EQ(refusal(fleet), "");
  fleet.local_steps = 2;
  EXPECT_NE(refusal(fleet).find("gt-adam corrects every gradient"), std::string::npos);
  fleet.local_steps = 1;
  fleet.optimizer.kind = "adam";
  EXPECT_NE(refusal(fleet).find("set beta1 and beta2"), std::string::npos);
  EXPECT_NE(refusal(quadratic_fleet(8, "exponential", "gt-adam", "")).find("directed"),
            std::string::npos);
  EXPECT_EQ(refusal(quadratic_fleet(8, "random-matching", "gt-adam", "")), "");
}

}  // namespace
}  // namespace gv
