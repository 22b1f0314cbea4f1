#include "optim/host/dot.h"

#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "optim/rng.h"

namespace gv {
namespace {

std::vector<float> random_floats(std::size_t n, std::uint64_t seed) {
  std::vector<float> values(n);
  Rng(seed).fill_normal(values);
  return values;
}

/// Returns the sum in the exact order of optim/host/dot.h.
double in_lanes(const std::vector<double>& terms) {
  std::vector<double> lane(dot_lanes, 0.0);
  for (std::size_t k = 0; k < terms.size(); ++k) lane[k % dot_lanes] += terms[k];
  for (std::size_t half = dot_lanes / 2; half > 0; half /= 2)
    for (std::size_t t = 0; t < half; ++t) lane[t] += lane[t + half];
  return lane[0];
}

TEST(Dot, SumsInItsOrder) {
  for (const std::size_t n : {0U, 1U, 255U, 256U, 257U, 4095U, 4096U, 4097U, 2'000'003U}) {
    const std::vector<float> a = random_floats(n, 1);
    const std::vector<float> b = random_floats(n, 2);
    std::vector<double> sums;
    std::vector<double> segment;
    for (std::size_t k = 0; k < n; ++k) {
      segment.push_back(static_cast<double>(a[k]) * static_cast<double>(b[k]));
      if (segment.size() < dot_segment && k + 1 < n) continue;
      sums.push_back(in_lanes(segment));
      segment.clear();
    }
    EXPECT_EQ(dot(a, b), in_lanes(sums)) << n;
  }
}

TEST(Dot, IsAsNearAsFloat64Allows) {
  const std::vector<float> a = random_floats(1'000'000, 3);
  const std::vector<float> b = random_floats(1'000'000, 4);
  long double exact = 0;
  for (std::size_t k = 0; k < a.size(); ++k)
    exact += static_cast<long double>(a[k]) * static_cast<long double>(b[k]);
  EXPECT_NEAR(dot(a, b), static_cast<double>(exact), 1e-9);
  EXPECT_EQ(dot(a, b), dot(b, a));
}

TEST(Dot, NeitherOverflowsNorVanishes) {
  const float most = std::numeric_limits<float>::max();
  const float least = std::numeric_limits<float>::denorm_min();
  const double size = static_cast<double>(most);
  EXPECT_EQ(dot(std::vector{most, most}, std::vector{most, most}), 2 * size * size);
  EXPECT_EQ(dot(std::vector{least}, std::vector{least}), std::ldexp(1.0, -298));
}

}  // namespace
}  // namespace gv
