#include <algorithm>
#include <cmath>
#include <numeric>

#include <gtest/gtest.h>

#include "tests/peer/sim/drawn_quadratic.h"

namespace gv {
namespace {

using Rows = DrawnQuadratic::Rows;

/// Keeps the k largest values by size, and sets the others to zero.
Values largest(const Values& v, std::size_t k) {
  std::vector<std::size_t> order(v.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order,
                    [&](std::size_t a, std::size_t b) { return std::abs(v[a]) > std::abs(v[b]); });
  Values kept(v.size(), 0);
  for (std::size_t j = 0; j < k; ++j) kept[order[j]] = v[order[j]];
  return kept;
}

/// Replaces each kept value by its sign times a mean size: that of the values above the mean of
/// all, or that of the rest.
Values in_two_bits(const Values& kept, std::size_t k) {
  double sum = 0;
  for (const double v : kept) sum += std::abs(v) / static_cast<double>(k);
  const auto mean_of = [&](bool high) {
    double part = 0;
    double count = 0;
    for (const double v : kept) {
      if (v == 0 || (std::abs(v) > sum) != high) continue;
      part += std::abs(v);
      ++count;
    }
    return count > 0 ? part / count : 0;
  };
  Values out = kept;
  for (double& v : out)
    if (v != 0) v = std::copysign(mean_of(std::abs(v) > sum), v);
  return out;
}

struct SparseOuter {
  double keep, beta, rate;
  int steps;
  bool two_bits = false;
};

/// Sarfi et al. 2025, Algorithm 1, with the quantizer or without.
Rows sparse_loco(const DrawnQuadratic& q, const SparseOuter& outer, int rounds) {
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
    if (outer.two_bits)
      for (Values& row : told) row = in_two_bits(row, k);
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
  for (std::uint64_t seed = 1; seed <= 24; ++seed) {
    SCOPED_TRACE(seed);
    DrawnQuadratic drawn("sparse-loco", seed);
    const SparseOuter outer{.keep = seed % 2 == 0 ? 0.34 : 0.7,
                            .beta = 0.95 - 0.05 * static_cast<double>(seed % 13),
                            .rate = 0.6 + 0.05 * static_cast<double>(seed % 13),
                            .steps = 1 + static_cast<int>(seed % 4),
                            .two_bits = seed > 12};
    drawn.fleet.settings = {{"keep", outer.keep},
                            {"beta", outer.beta},
                            {"outer_lr", outer.rate},
                            {"values", outer.two_bits ? 1 : 0}};
    drawn.fleet.local_steps = static_cast<std::uint32_t>(outer.steps);
    // All begin with one model, as without a start of their own.
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

/// The part of a value that two bits leave out is sent later. The fleet ends as with floats.
TEST(SparseLoCo, MakesUpForWhatTwoBitsLeaveOut) {
  Fleet fleet = restless(6, "sparse-loco");
  fleet.data.quadratic.noise = 0;
  fleet.local_steps = 2;
  fleet.optimizer.lr = 0.005;
  fleet.stop.rounds = 3000;
  fleet.settings = {{"keep", 0.2}};
  const Result floats = run(fleet);
  fleet.settings["values"] = 1;
  const Result two_bits = run(fleet);
  EXPECT_NE(two_bits.hash, floats.hash);
  expect_near(two_bits.x[0], floats.x[0], 0.1);
}

TEST(SparseLoCo, ResumesWithWhatWasNotToldYet) {
  Fleet fleet = restless(5, "sparse-loco");
  fleet.settings = {{"keep", 0.2}, {"values", 1}};
  expect_it_resumes(fleet);
}

/// Expects equal bits at all peers, and `bytes` for the indices and values that each sent.
void expect_all_agree(double two_bits, std::uint64_t bytes) {
  Fleet fleet = quadratic_fleet(5, "ring", "sparse-loco", "");
  fleet.data.quadratic.dimension = 300'000;
  fleet.data.quadratic.spread = 1;
  fleet.local_steps = 2;
  fleet.settings = {{"keep", 0.01}, {"values", two_bits}};
  fleet.stop.rounds = 3;
  const Assembly assembly(fleet);
  Observer observer(5, assembly.evaluator(), {});
  simulate(assembly, observer, {});
  const auto first = observer.finals().at(0).model->floats();
  for (const auto& [peer, report] : observer.finals()) {
    const auto x = report.model->floats();
    EXPECT_TRUE(std::equal(x.begin(), x.end(), first.begin(), first.end())) << peer;
    EXPECT_EQ(report.costs.model_bytes, 3U * 4 * bytes) << peer;
  }
}

TEST(SparseLoCo, AllAgreeOnWhatFewValuesSay) {
  expect_all_agree(0, 8 * (1311 + 1311 + 379));
}

/// 73 whole blocks with 41 kept values each, and one of 992 values with 10.
TEST(SparseLoCo, AllAgreeOnWhatFewBitsSay) {
  expect_all_agree(1, 73 * (8 + 72) + 8 + 18);
}

}  // namespace
}  // namespace gv
