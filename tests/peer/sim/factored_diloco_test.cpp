#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "tests/peer/sim/drawn_quadratic.h"

// Factored Gossip DiLoCo, compared with its recursion in double precision on drawn graphs.

namespace gv {
namespace {

using Rows = DrawnQuadratic::Rows;

enum class Mixing { none, neighbours, all };

Rows mixed(const DrawnQuadratic& q, const Rows& v, Mixing by) {
  if (by == Mixing::none) return v;
  if (by == Mixing::neighbours) return q.mixed(v);
  Values sum(v[0].size(), 0);
  for (const Values& own : v)
    for (std::size_t k = 0; k < sum.size(); ++k) sum[k] += own[k] / static_cast<double>(v.size());
  return Rows(v.size(), sum);
}

struct Factored {
  Mixing mix1 = Mixing::all, mix2 = Mixing::none;
  double lr = 0, mu = 0;
  std::uint32_t steps = 1;

  /// phi <- Mix1 phi - lr (Mix2 Delta + mu u), u <- mu u + Mix2 Delta.
  Rows run(const DrawnQuadratic& q, int rounds) const {
    Rows phi = q.start;
    Rows u = q.nothing();
    for (int t = 0; t < rounds; ++t) {
      Rows x = phi;
      for (std::uint32_t h = 0; h < steps; ++h) x = q.sum(1, x, -q.gamma, q.gradient(x));
      const Rows delta = mixed(q, q.sum(1, phi, -1, x), mix2);
      u = q.sum(mu, u, 1, delta);
      phi = q.sum(1, mixed(q, phi, mix1), -lr, q.sum(1, delta, mu, u));
    }
    return phi;
  }
};

Factored drawn_factored(std::uint64_t seed) {
  Rng rng = Rng(seed).derive("outer");
  return {.mix2 = rng.below(3) == 0 ? Mixing::none : Mixing::neighbours,
          .lr = 0.1 + 0.7 * rng.uniform(),
          .mu = 0.9 * rng.uniform(),
          .steps = static_cast<std::uint32_t>(1 + rng.below(5))};
}

TEST(FactoredDiLoCo, IsItsRecursion) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(seed);
    DrawnQuadratic drawn("factored-diloco", seed);
    const Factored by = drawn_factored(seed);
    drawn.fleet.local_steps = by.steps;
    drawn.fleet.settings = {{"outer_lr", by.lr},
                            {"outer_momentum", by.mu},
                            {"mix2", by.mix2 == Mixing::neighbours ? 0 : 1}};
    expect_near(drawn.run(20), by.run(drawn, 20), 2e-4);
  }
}

/// All peers are neighbours with equal weights, and begin equal.
TEST(FactoredDiLoCo, AmongAllIsDiLoCo) {
  Fleet fleet = quadratic_fleet(6, "complete", "factored-diloco", "");
  fleet.data.quadratic = {
      .dimension = 50, .hessian = {1, 0.5}, .noise = 1, .spread = 1, .start = 0.5, .centers = {}};
  fleet.local_steps = 4;
  fleet.stop.rounds = 20;
  const Result factored = run(fleet);
  fleet.algorithm = "diloco";
  expect_near(factored, run(fleet), 1e-4);
}

/// Exchanges during the steps take no extra time. The neighbours' mean after the steps does, and
/// the mean of all, for which DiLoCo waits, takes more.
TEST(FactoredDiLoCo, HidesWhatItNeedNotWaitFor) {
  const auto seconds = [](const std::string& algorithm, const Settings& settings) {
    Fleet fleet = restless(8, algorithm);
    fleet.data.quadratic.dimension = 10'000;
    fleet.local_steps = 60;
    fleet.stop.rounds = 8;
    fleet.settings = settings;
    fleet.flops = 50e6;
    fleet.network.latency = std::chrono::milliseconds(1);
    fleet.network.bandwidth = 2.5e6;
    const Assembly assembly(fleet);
    Observer observer(8, assembly.evaluator(), {});
    simulate(assembly, observer, {});
    return std::chrono::duration<double>(observer.summary()->time).count();
  };
  const double alone = seconds("isolated", {});
  EXPECT_LT(seconds("factored-diloco", {{"mix2", 1}}), 1.1 * alone) << "without a Mix2";
  EXPECT_GT(seconds("factored-diloco", {{"mix2", 0}}), 1.2 * alone);
  EXPECT_GT(seconds("diloco", {}), 1.2 * alone);
}

TEST(FactoredDiLoCo, EndsAtTheOptimumOfUnlikeData) {
  Fleet fleet = restless(8, "factored-diloco");
  fleet.data.quadratic.noise = 0;
  fleet.data.quadratic.hessian = {1};
  fleet.local_steps = 4;
  fleet.optimizer.lr = 0.05;
  fleet.stop.rounds = 800;
  const Assembly assembly(fleet);
  Observer observer(8, assembly.evaluator(), {});
  simulate(assembly, observer, {});
  EXPECT_LT(assembly.evaluator()->evaluate(observer.mean_model()).loss, 1e-4);
}

TEST(FactoredDiLoCo, RefusesWhatItCannotWaitForAndEdgesOfOneWay) {
  Fleet fleet = quadratic_fleet(8, "ring", "factored-diloco", "");
  EXPECT_EQ(refusal(fleet), "");
  fleet.data.servers = 1;
  EXPECT_NE(refusal(fleet).find("factored-diloco waits for its neighbours while it trains"),
            std::string::npos);
  EXPECT_NE(refusal(quadratic_fleet(8, "exponential", "factored-diloco", "")).find("directed"),
            std::string::npos);
  EXPECT_EQ(refusal(quadratic_fleet(8, "random-matching", "factored-diloco", "")), "");
}

}  // namespace
}  // namespace gv
