#include <cmath>

#include <gtest/gtest.h>

#include "tests/peer/sim/drawn_quadratic.h"

// Downpour whose servers step on the mean of several sums, compared with FedBuff's recursion in
// double precision on drawn fleets.

namespace gv {
namespace {

using Rows = DrawnQuadratic::Rows;

struct Buffering {
  std::uint32_t steps = 1;  ///< between two reads of the model, and two pushes
  std::uint32_t most = 1;
  double staleness = 0;
};

/// Nguyen et al. 2022, Algorithm 1, for workers of equal speed: in turn each pushes its move and
/// takes the model again. Returns the server's model.
Values fedbuff(const DrawnQuadratic& q, Values model, const Buffering& b, std::uint32_t cycles) {
  const std::size_t n = q.start.size();
  Rows began(n, model);
  std::vector<std::uint32_t> fetched(n, 0);
  Values held(model.size(), 0);
  std::uint32_t count = 0;
  std::uint32_t version = 0;
  for (std::uint32_t cycle = 0; cycle < cycles; ++cycle) {
    Rows x = began;
    for (std::uint32_t h = 0; h < b.steps; ++h) x = q.sum(1, x, -q.gamma, q.gradient(x));
    for (std::size_t i = 0; i < n; ++i) {
      const double weight = std::pow(1.0 + version - fetched[i], -b.staleness);
      for (std::size_t k = 0; k < model.size(); ++k) held[k] += weight * (began[i][k] - x[i][k]);
      if (++count == b.most) {
        for (std::size_t k = 0; k < model.size(); ++k) model[k] -= held[k] / b.most;
        held.assign(model.size(), 0);
        count = 0;
        ++version;
      }
      began[i] = model;
      fetched[i] = version;
    }
  }
  return model;
}

TEST(BufferedDownpour, IsFedBuffsRecursion) {
  constexpr std::uint32_t cycles = 12;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE(seed);
    DrawnQuadratic drawn("downpour", seed);
    Rng rng = Rng(seed).derive("buffering");
    const Buffering b{.steps = static_cast<std::uint32_t>(1 + rng.below(4)),
                      .most = static_cast<std::uint32_t>(1 + rng.below(9)),
                      .staleness = rng.below(3) == 0 ? 0 : rng.uniform()};
    drawn.fleet.settings = {
        {"fetch", b.steps}, {"push", b.steps}, {"buffer", b.most}, {"staleness", b.staleness}};
    drawn.fleet.flops = 1e18;
    drawn.fleet.stop.rounds = cycles * b.steps;
    Rows start = drawn.start;
    start.push_back(drawn.start[0]);
    const Result result = run_from(drawn.fleet, start);
    expect_near(result.x.back(), fedbuff(drawn, drawn.start[0], b, cycles), 1e-4);
  }
}

TEST(BufferedDownpour, WithoutABufferStepsOnEachSum) {
  Fleet fleet = restless(5, "downpour");
  const std::string hash = run(fleet).hash;
  fleet.settings = {{"buffer", 1}, {"staleness", 0}};
  EXPECT_EQ(run(fleet).hash, hash);
  fleet.settings = {{"buffer", 2}, {"staleness", 0}};
  EXPECT_NE(run(fleet).hash, hash);
}

/// Three servers and a worker that is ten times slower: every sum counts, and only the rest of a
/// buffer at the end is lost.
TEST(BufferedDownpour, EndsAtTheOptimumWhoeverIsSlow) {
  Fleet fleet = restless(5, "downpour");
  fleet.data.quadratic.noise = 0;
  fleet.data.quadratic.spread = 0;
  fleet.settings = {{"servers", 3}, {"buffer", 3}, {"staleness", 0.5}};
  fleet.optimizer.lr = 0.05;
  fleet.flops = 1e6;
  fleet.peers[2].speed = 0.1;
  fleet.stop.rounds = 900;
  const Assembly assembly(fleet);
  Observer observer(assembly.fleet.size(), assembly.evaluator(), {});
  simulate(assembly, observer, {});
  for (const auto& [peer, report] : observer.finals()) EXPECT_EQ(report.round, 900U) << peer;
  EXPECT_LT(assembly.evaluator()->evaluate(observer.mean_model()).loss, 1e-3);
}

}  // namespace
}  // namespace gv
