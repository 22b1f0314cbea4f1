#include "optim/rng.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

namespace gv {
namespace {

using Block = std::array<std::uint32_t, 4>;

/// The vectors published with Random123 (kat_vectors, philox4x32 10).
TEST(Rng, PhiloxKnownAnswers) {
  EXPECT_EQ(philox4x32({0, 0, 0, 0}, 0), (Block{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  const std::uint32_t all = 0xffffffff;
  EXPECT_EQ(philox4x32({all, all, all, all}, ~std::uint64_t{0}),
            (Block{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  // The digits of pi.
  EXPECT_EQ(philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, 0x299f31d0a4093822),
            (Block{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Rng, SameSeedSameNumbersOtherStreamOthers) {
  Rng a(5);
  Rng b(5);
  EXPECT_EQ(a.bits(), b.bits());
  Rng copy = a;
  EXPECT_EQ(a.bits(), copy.bits());
  EXPECT_NE(Rng(5).derive("batches").bits(), Rng(5).derive("init").bits());
  EXPECT_NE(Rng(5).derive(1).bits(), Rng(5).derive(2).bits());
  EXPECT_NE(Rng(5).derive(1).bits(), Rng(6).derive(1).bits());
  EXPECT_NE(Rng(5).derive(1).derive(2).bits(), Rng(5).derive(2).derive(1).bits());
}

TEST(Rng, StreamsDoNotDependOnWhatWasDrawn) {
  Rng drawn(5);
  for (int i = 0; i < 7; ++i) drawn.bits();
  EXPECT_EQ(drawn.derive(3).bits(), Rng(5).derive(3).bits());
}

/// Returns the correlation; for n independent pairs it stays below 5 / sqrt(n) in size.
double correlation(const std::vector<float>& a, const std::vector<float>& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0) / static_cast<double>(a.size());
}

TEST(Rng, StreamsAreUncorrelated) {
  constexpr std::size_t n = 100'000;
  std::vector<std::vector<float>> streams(6, std::vector<float>(n));
  for (std::size_t i = 0; i < streams.size(); ++i) Rng(9).derive(i + 1).fill_normal(streams[i]);
  for (std::size_t i = 0; i < streams.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j)
      EXPECT_NEAR(correlation(streams[i], streams[j]), 0, 5 / std::sqrt(n)) << i << ' ' << j;
    const std::vector<float> head(streams[i].begin(), streams[i].end() - 1);
    const std::vector<float> tail(streams[i].begin() + 1, streams[i].end());
    EXPECT_NEAR(correlation(head, tail), 0, 5 / std::sqrt(n)) << i;
  }
}

struct Moments {
  double mean = 0, variance = 0, third = 0, fourth = 0;
};
template <class Draw>
Moments moments(int n, Draw draw) {
  std::vector<double> values(static_cast<std::size_t>(n));
  for (double& x : values) x = draw();
  Moments m;
  for (const double x : values) m.mean += x / n;
  for (const double x : values) {
    const double y = x - m.mean;
    m.variance += y * y / n;
    m.third += y * y * y / n;
    m.fourth += y * y * y * y / n;
  }
  return m;
}

constexpr int n_draws = 400'000;
/// Returns five standard deviations of a mean of n_draws values with this variance.
double tolerance(double variance) {
  return 5 * std::sqrt(variance / n_draws);
}

/// Expects the moments of N(0, 1): 0, 1, 0, 3; their estimates have variance 1, 2, 15, 96.
void expect_normal(const Moments& m) {
  EXPECT_NEAR(m.mean, 0, tolerance(1));
  EXPECT_NEAR(m.variance, 1, tolerance(2));
  EXPECT_NEAR(m.third, 0, tolerance(15));
  EXPECT_NEAR(m.fourth, 3, tolerance(96));
}

TEST(Rng, UniformAndNormalHaveTheirMoments) {
  Rng rng(11);
  const Moments uniform = moments(n_draws, [&] { return rng.uniform(); });
  EXPECT_NEAR(uniform.mean, 0.5, tolerance(1.0 / 12));
  EXPECT_NEAR(uniform.variance, 1.0 / 12, tolerance(1.0 / 180));
  expect_normal(moments(n_draws, [&] { return rng.normal(); }));
  std::vector<float> filled(n_draws);
  rng.fill_normal(filled);
  std::size_t i = 0;
  expect_normal(moments(n_draws, [&] { return static_cast<double>(filled[i++]); }));
}

/// Mean and variance are both the shape; the estimate of the variance has variance 2 s^2 + 6 s.
TEST(Rng, GammaHasItsMoments) {
  Rng rng(12);
  for (const double shape : {0.05, 0.3, 1.0, 4.5, 60.0}) {
    const Moments gamma = moments(n_draws, [&] { return rng.gamma(shape); });
    EXPECT_NEAR(gamma.mean, shape, tolerance(shape)) << shape;
    EXPECT_NEAR(gamma.variance, shape, tolerance(2 * shape * shape + 6 * shape)) << shape;
  }
}

/// Kolmogorov & Smirnov: sup |F_n - F| exceeds 1.95 / sqrt(n) once in a thousand.
TEST(Rng, FillNormalFollowsTheNormalDistribution) {
  std::vector<float> z(100'000);
  Rng(13).fill_normal(z);
  std::ranges::sort(z);
  double worst = 0;
  for (std::size_t i = 0; i < z.size(); ++i) {
    const double f = 0.5 * std::erfc(-static_cast<double>(z[i]) / std::sqrt(2.0));
    worst = std::max(worst, std::abs(f - (static_cast<double>(i) + 0.5) / 1e5));
  }
  EXPECT_LT(worst, 1.95 / std::sqrt(1e5));
}

/// A fill may be split after a multiple of four; whatever its length, it does not write beyond.
TEST(Rng, FillNormalOfAnyLength) {
  std::vector<float> whole(300);
  Rng(14).fill_normal(whole);
  for (std::size_t n = 0; n <= whole.size(); ++n) {
    std::vector<float> part(n + 1, 77.0F);
    Rng rng(14);
    rng.fill_normal(std::span(part).first(n));
    EXPECT_TRUE(std::equal(part.begin(), part.end() - 1, whole.begin())) << n;
    EXPECT_EQ(part.back(), 77.0F) << n;
    if (n % 4 != 0) continue;
    std::vector<float> rest(whole.size() - n);
    rng.fill_normal(rest);
    EXPECT_TRUE(std::equal(rest.begin(), rest.end(), whole.end() - std::ssize(rest))) << n;
  }
}

TEST(Rng, BelowIsUniform) {
  Rng rng(3);
  std::array<int, 7> counts{};
  for (int i = 0; i < 70'000; ++i) ++counts[rng.below(7)];
  for (const int count : counts) EXPECT_NEAR(count, 10'000, 5 * std::sqrt(10'000.0 * 6 / 7));
  EXPECT_EQ(rng.below(1), 0U);
  // Two thirds of 2^64: a bare remainder would put two thirds of the draws into the lower half.
  const std::uint64_t large = 12297829382473034410U;
  int low = 0;
  for (int i = 0; i < 10'000; ++i) low += rng.below(large) < large / 2 ? 1 : 0;
  EXPECT_NEAR(low, 5'000, 5 * 50);
}

TEST(Rng, ShuffleReachesEveryOrderEquallyOften) {
  Rng rng(4);
  std::array<int, 27> counts{};
  for (int i = 0; i < 60'000; ++i) {
    std::array<std::uint32_t, 3> v{0, 1, 2};
    rng.shuffle(v);
    ++counts[v[0] * 9 + v[1] * 3 + v[2]];
  }
  EXPECT_EQ(std::ranges::count_if(counts, [](int c) { return c > 0; }), 6);
  for (const int count : counts) {
    if (count == 0) continue;  // not an order
    EXPECT_NEAR(count, 10'000, 5 * std::sqrt(10'000.0 * 5 / 6));
  }
}

}  // namespace
}  // namespace gv
