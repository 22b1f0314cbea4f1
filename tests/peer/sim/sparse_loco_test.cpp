#include <algorithm>
#include <cmath>
#include <numeric>

#include <gtest/gtest.h>

#include "tests/peer/sim/drawn_quadratic.h"

namespace gv {
namespace {

using Rows = DrawnQuadratic::Rows;

/// The k of the largest size, and zero for the others.
Values largest(const Values& v, std::size_t k) {
  std::vector<std::size_t> order(v.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order,
                    [&](std::size_t a, std::size_t b) { return std::abs(v[a]) > std::abs(v[b]); });
  Values kept(v.size(), 0);
  for (std::size_t j = 0; j < k; ++j) kept[order[j]] = v[order[j]];
  return kept;
}

struct Outer {
  double keep, beta, rate;
  int steps;
};

/// Sarfi et al. 2025, Algorithm 1, without the quantizer.
Rows sparse_loco(const DrawnQuadratic& q, const Outer& outer, int rounds) {
  const std::size_t n = q.start.size();
  const std::size_t d = q.start[0].size();
  const auto k =
      static_cast<std::size_t>(std::max(1.0, std::round(outer.keep * static_cast<double>(d))));
  Rows theta = q.start;
  Rows e = q.nothing();
  for (int t = 0; t < rounds; ++t) {
    Rows own = theta;
    for (int h = 0; h < outer.steps; ++h) own = q.sum(1, own, -q.gamma, q.gradient(own));
    e = q.sum(1, q.sum(outer.beta, e, 1, theta), -1, own);
    Rows told = e;
    for (Values& row : told) row = largest(row, k);
    e = q.sum(1, e, -1, told);
    Values mean(d, 0);
    for (const Values& row : told)
      for (std::size_t c = 0; c < d; ++c) mean[c] += row[c] / static_cast<double>(n);
    for (Values& row : theta)
      for (std::size_t c = 0; c < d; ++c) row[c] -= outer.rate * mean[c];
  }
  return theta;
}

TEST(SparseLoCo, IsItsPapersRecursion) {
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    SCOPED_TRACE(seed);
    DrawnQuadratic drawn("sparse-loco", seed);
    const Outer outer{.keep = seed % 2 == 0 ? 0.34 : 0.7,
                      .beta = 0.95 - 0.05 * static_cast<double>(seed),
                      .rate = 0.6 + 0.05 * static_cast<double>(seed),
                      .steps = 1 + static_cast<int>(seed % 4)};
    drawn.fleet.settings = {{"keep", outer.keep}, {"beta", outer.beta}, {"outer_lr", outer.rate}};
    drawn.fleet.local_steps = static_cast<std::uint32_t>(outer.steps);
    // All begin with one model, as they do without a start of their own.
    std::ranges::fill(drawn.start, Values(drawn.start[0]));
    expect_near(drawn.run(20), sparse_loco(drawn, outer, 20), 1e-4);
  }
}

TEST(SparseLoCo, ThatTellsEverythingIsLocalSgd) {
  Fleet fleet = restless(8, "sparse-loco");
  fleet.local_steps = 3;
  fleet.settings = {{"keep", 1}, {"beta", 0}, {"outer_lr", 1}};
  const Result sparse = run(fleet);
  fleet.algorithm = "local-sgd";
  fleet.settings = {};
  expect_near(run(fleet), sparse, 1e-4);
}

/// Everybody holds the same bits, and has sent an index and a value for each that it told.
TEST(SparseLoCo, AllAgreeOnWhatFewValuesSay) {
  Fleet fleet = quadratic_fleet(5, "ring", "sparse-loco", "");
  fleet.data.quadratic.dimension = 300'000;
  fleet.data.quadratic.spread = 1;
  fleet.local_steps = 2;
  fleet.settings = {{"keep", 0.01}};
  fleet.stop.rounds = 3;
  const Assembly assembly(fleet);
  Observer observer(5, assembly.evaluator(), {});
  simulate(assembly, observer, {});
  const auto first = observer.finals().at(0).model->floats();
  for (const auto& [peer, report] : observer.finals()) {
    const auto x = report.model->floats();
    EXPECT_TRUE(std::equal(x.begin(), x.end(), first.begin(), first.end())) << peer;
    EXPECT_EQ(report.model_bytes, 3U * 4 * 8 * (1311 + 1311 + 379)) << peer;
  }
}

}  // namespace
}  // namespace gv
