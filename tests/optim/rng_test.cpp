#include "optim/rng.h"

#include <cmath>
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
}

TEST(Rng, SameSeedSameNumbersOtherStreamOthers) {
  Rng a(5);
  Rng b(5);
  EXPECT_EQ(a.bits(), b.bits());
  EXPECT_NE(Rng(5).derive("batches").bits(), Rng(5).derive("init").bits());
  EXPECT_NE(Rng(5).derive(1).bits(), Rng(5).derive(2).bits());
}

struct Moments {
  double mean = 0, variance = 0;
};
template <class Draw>
Moments moments(int n, Draw draw) {
  Moments m;
  double square = 0;
  for (int i = 0; i < n; ++i) {
    const double x = draw();
    m.mean += x / n;
    square += x * x / n;
  }
  m.variance = square - m.mean * m.mean;
  return m;
}

TEST(Rng, DistributionsHaveTheirMoments) {
  Rng rng(11);
  constexpr int n = 400'000;
  const Moments uniform = moments(n, [&] { return rng.uniform(); });
  EXPECT_NEAR(uniform.mean, 0.5, 0.003);
  EXPECT_NEAR(uniform.variance, 1.0 / 12, 0.001);
  const Moments normal = moments(n, [&] { return rng.normal(); });
  EXPECT_NEAR(normal.mean, 0, 0.01);
  EXPECT_NEAR(normal.variance, 1, 0.02);
  for (const double shape : {0.3, 1.0, 4.5}) {
    const Moments gamma = moments(n, [&] { return rng.gamma(shape); });
    EXPECT_NEAR(gamma.mean, shape, 0.02 * (1 + shape));
    EXPECT_NEAR(gamma.variance, shape, 0.05 * (1 + shape));
  }
  std::vector<float> filled(n);
  rng.fill_normal(filled);
  std::size_t i = 0;
  const Moments block = moments(n, [&] { return static_cast<double>(filled[i++]); });
  EXPECT_NEAR(block.mean, 0, 0.01);
  EXPECT_NEAR(block.variance, 1, 0.02);
}

TEST(Rng, BelowIsUniform) {
  Rng rng(3);
  std::array<int, 7> counts{};
  for (int i = 0; i < 70'000; ++i) ++counts[rng.below(7)];
  for (const int count : counts) EXPECT_NEAR(count, 10'000, 500);
}

}  // namespace
}  // namespace gv
