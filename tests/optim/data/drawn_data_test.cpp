#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include <gtest/gtest.h>

#include "optim/data/dataset.h"

namespace gv {
namespace {

TEST(Digits, AreRepeatableBalancedAndDifferent) {
  const TrainTest a = draw_digits(203, 50, Rng(1));
  const TrainTest b = draw_digits(203, 50, Rng(1));
  const TrainTest c = draw_digits(203, 50, Rng(2));
  EXPECT_EQ(a.train->bytes, b.train->bytes);
  EXPECT_EQ(a.train->labels, b.train->labels);
  EXPECT_EQ(a.test->bytes, b.test->bytes);
  EXPECT_NE(a.train->bytes, c.train->bytes);
  EXPECT_EQ(a.train->image, (ImageShape{1, 28, 28}));
  EXPECT_EQ(a.test->image, (ImageShape{1, 28, 28}));
  EXPECT_FALSE(std::ranges::is_sorted(a.train->labels));
  for (std::uint8_t digit = 0; digit < 10; ++digit)
    EXPECT_NEAR(static_cast<double>(std::ranges::count(a.train->labels, digit)), 20.3, 1);
  const auto first = std::span(a.train->bytes).first(50 * 784);
  EXPECT_FALSE(std::ranges::equal(first, a.test->bytes));
}

/// The nearest mean image identifies most digits; guessing identifies one in ten.
TEST(Digits, LookLikeTheirLabels) {
  const TrainTest data = draw_digits(2000, 500, Rng(3));
  std::vector<double> means(10 * 784);
  for (std::size_t k = 0; k < data.train->bytes.size(); ++k)
    means[data.train->labels[k / 784] * 784U + k % 784] += data.train->bytes[k] / 200.0;
  int correct = 0;
  for (std::size_t r = 0; r < 500; ++r) {
    std::array<double, 10> distance{};
    for (std::size_t k = 0; k < 7840; ++k) {
      const double off = means[k] - data.test->bytes[r * 784 + k % 784];
      distance[k / 784] += off * off;
    }
    correct += std::ranges::min_element(distance) - distance.begin() == data.test->labels[r];
  }
  EXPECT_GT(correct, 250);
}

TEST(Blobs, AreAboutTheirSeparationApart) {
  const TrainTest data = make_blobs(4000, 100, 50, 3, 8, Rng(5));
  std::vector<double> means(150);
  std::array<double, 3> counts{};
  for (const std::uint8_t label : data.train->labels) counts.at(label) += 1;
  for (std::size_t k = 0; k < data.train->floats.size(); ++k) {
    const std::size_t label = data.train->labels[k / 50];
    means[label * 50 + k % 50] += static_cast<double>(data.train->floats[k]) / counts.at(label);
  }
  for (std::size_t pair = 0; pair < 3; ++pair) {
    double square = 0;
    for (std::size_t c = 0; c < 50; ++c) {
      const double off = means[pair * 50 + c] - means[(pair + 1) % 3 * 50 + c];
      square += off * off;
    }
    EXPECT_NEAR(std::sqrt(square), 8, 3);  // random centres: a relative deviation of 1 in 10
  }
  EXPECT_THROW(make_blobs(10, 10, 0, 3, 1, Rng(1)), std::invalid_argument);
  EXPECT_THROW(make_blobs(10, 10, 5, 0, 1, Rng(1)), std::invalid_argument);
  EXPECT_THROW(make_blobs(10, 10, 5, 257, 1, Rng(1)), std::invalid_argument);
}

/// Returns the largest entry of A^T (A x* - y) / rows: normal equations at the known optimum.
double residual(const Dataset& data) {
  const std::size_t d = data.features;
  std::vector<double> gradient(d);
  for (std::size_t r = 0; r < data.rows; ++r) {
    const float* a = data.floats.data() + r * d;
    const double off =
        std::inner_product(a, a + d, data.optimum.begin(), 0.0) - double{data.targets[r]};
    for (std::size_t c = 0; c < d; ++c) gradient[c] += double{a[c]} * off / data.rows;
  }
  return std::abs(*std::ranges::max_element(gradient, {}, [](double g) { return std::abs(g); }));
}

TEST(Linear, ItsOptimumSolvesTheNormalEquations) {
  const TrainTest exact = make_linear(100, 10, 5, 0, Rng(4));
  EXPECT_LT(residual(*exact.train), 1e-5);
  EXPECT_LT(residual(*exact.test), 1e-5);
  EXPECT_EQ(exact.train->optimum, exact.test->optimum);
  // With noise each entry is a mean of products of two normal numbers.
  const TrainTest noisy = make_linear(10'000, 10, 5, 2, Rng(4));
  EXPECT_LT(residual(*noisy.train), 5 * 2 / std::sqrt(10'000.0));
  EXPECT_GT(residual(*noisy.train), 1e-4);
}

}  // namespace
}  // namespace gv
