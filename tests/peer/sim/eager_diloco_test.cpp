#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "tests/peer/sim/drawn_quadratic.h"

// DiLoCo with eager updates, compared with its paper's recursion in double precision on drawn
// fleets.

namespace gv {
namespace {

using Rows = DrawnQuadratic::Rows;

struct EagerOuter {
  std::size_t fragments = 1;
  std::uint32_t steps = 1;
  double lr = 0, mu = 0;
};

/// Returns the fragment of each coordinate, in ascending order.
std::vector<std::size_t> fragments_of(std::size_t d, std::size_t fragments) {
  std::vector<std::size_t> turns;
  for (std::size_t k = 0; k < d; ++k) turns.push_back(k % fragments);
  std::ranges::sort(turns);
  return turns;
}

/// Kale et al. 2025, Algorithm 3, for one fragment after the other. `told` holds the moves of each
/// peer's fragments until their last turn, which the others know by the next one.
Rows eager(const DrawnQuadratic& q, const EagerOuter& outer, std::uint64_t rounds) {
  Rows x = q.start;
  Rows theta = x;
  Rows u = q.nothing();
  Rows told = u;
  const auto n = static_cast<double>(x.size());
  const std::vector<std::size_t> turns = fragments_of(x[0].size(), outer.fragments);
  for (std::uint64_t t = 0; t < rounds; ++t) {
    const Rows moved = q.sum(1, theta, -1, x);
    const Rows before = told;
    for (std::size_t k = 0; k < turns.size() && t > 0; ++k) {
      if (turns[k] != (t - 1) % outer.fragments) continue;
      for (std::size_t i = 0; i < x.size(); ++i) {
        double delta = moved[i][k];
        for (std::size_t j = 0; j < x.size(); ++j) delta += j == i ? 0 : before[j][k];
        delta /= n;
        u[i][k] = outer.mu * u[i][k] + delta;
        theta[i][k] -= outer.lr * (delta + outer.mu * u[i][k]);
        x[i][k] = theta[i][k];
        told[i][k] = moved[i][k];
      }
    }
    for (std::uint32_t h = 0; h < outer.steps; ++h) x = q.sum(1, x, -q.gamma, q.gradient(x));
  }
  return x;
}

EagerOuter drawn_outer(Rng rng) {
  return {.fragments = 1 + rng.below(6),
          .steps = static_cast<std::uint32_t>(1 + rng.below(5)),
          .lr = 0.1 + 0.7 * rng.uniform(),
          .mu = 0.9 * rng.uniform()};
}

TEST(EagerDiLoCo, IsItsPapersRecursion) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE(seed);
    DrawnQuadratic drawn("eager-diloco", seed);
    const EagerOuter outer = drawn_outer(Rng(seed).derive("outer"));
    drawn.fleet.local_steps = outer.steps;
    drawn.fleet.settings = {{"fragments", static_cast<double>(outer.fragments)},
                            {"outer_lr", outer.lr},
                            {"outer_momentum", outer.mu}};
    expect_near(drawn.run(25), eager(drawn, outer, 25), 1e-4);
  }
}

/// Fragments that are not chunks of any peer, more fragments than values, and a codec.
TEST(EagerDiLoCo, ResumesFromEveryRound) {
  for (const double fragments : {1, 7, 60}) {
    Fleet fleet = restless(5, "eager-diloco");
    fleet.local_steps = 2;
    fleet.settings = {{"fragments", fragments}};
    for (const std::optional<Codec>& codec :
         {std::optional<Codec>{}, std::optional(Codec{.kind = Codec::Kind::int8})}) {
      fleet.codec = codec;
      expect_it_resumes(fleet);
    }
  }
}

/// Differences of the models do not add up: all stay together, near the common optimum.
TEST(EagerDiLoCo, EndsAtTheOptimumOfUnlikeData) {
  Fleet fleet = restless(8, "eager-diloco");
  fleet.data.quadratic.noise = 0;
  fleet.local_steps = 5;
  fleet.settings = {{"fragments", 2}};
  fleet.stop.rounds = 600;
  const Result eager = run(fleet);
  fleet.algorithm = "local-sgd";
  fleet.settings.clear();
  const Result together = run(fleet);
  for (std::size_t k = 0; k < 50; ++k) {
    double mean = 0;
    for (const Values& x : eager.x) mean += x[k] / 8;
    EXPECT_NEAR(mean, together.x[0][k], 0.02) << k;
  }
}

}  // namespace
}  // namespace gv
