#include "optim/host/gemm.h"

#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "optim/host/network_objective.h"
#include "optim/rng.h"

namespace gv {
namespace {

struct Shape {
  int m, n, k;
};

std::vector<float> random_floats(int rows, int cols, std::uint64_t seed) {
  std::vector<float> a(static_cast<std::size_t>(rows) * static_cast<std::size_t>(cols));
  Rng(seed).fill_normal(a);
  return a;
}

/// Returns element (i, j) of op(A), with A stored row-major with `stride` columns.
double at(const std::vector<float>& a, bool transposed, int i, int j, int stride) {
  const int index = transposed ? j * stride + i : i * stride + j;
  return static_cast<double>(a[static_cast<std::size_t>(index)]);
}

TEST(Gemm, IsTheSumOfProductsForEveryTransposition) {
  for (const Shape s : {Shape{1, 1, 1}, Shape{3, 5, 7}, Shape{64, 10, 128}, Shape{33, 17, 40}}) {
    for (const bool ta : {false, true}) {
      for (const bool tb : {false, true}) {
        const int lda = ta ? s.m : s.k;
        const int ldb = tb ? s.k : s.n;
        const auto a = random_floats(s.m, s.k, 1);
        const auto b = random_floats(s.k, s.n, 2);
        auto c = random_floats(s.m, s.n, 3);
        const auto before = c;
        gemm(ta, tb, s.m, s.n, s.k, 2.0F, a.data(), lda, b.data(), ldb, 0.5F, c.data(), s.n);
        for (int i = 0; i < s.m; ++i) {
          for (int j = 0; j < s.n; ++j) {
            double sum = 0;
            for (int k = 0; k < s.k; ++k) sum += at(a, ta, i, k, lda) * at(b, tb, k, j, ldb);
            const double expected = 2 * sum + 0.5 * at(before, false, i, j, s.n);
            ASSERT_NEAR(at(c, false, i, j, s.n), expected, 1e-4) << i << ", " << j;
          }
        }
      }
    }
  }
}

TEST(CrossEntropy, GradientRowsSumToZeroAndTheLossIsMinusTheLogOfTheProbability) {
  std::vector<float> z{1, 2, 3, 1000, 0, -1000};
  const std::vector<std::uint8_t> labels{2, 0};
  const Score score = score_logits(z, labels, 3);
  EXPECT_EQ(score.correct, 2U);
  const double loss = softmax_cross_entropy(z, labels, 3);
  const double first = -std::log(std::exp(3.0) / (std::exp(1.0) + std::exp(2.0) + std::exp(3.0)));
  EXPECT_NEAR(loss, first / 2, 1e-6) << "the second row is certain, whatever its size";
  EXPECT_NEAR(score.loss, first, 1e-6);
  EXPECT_NEAR(z[0] + z[1] + z[2], 0, 1e-6);
  EXPECT_NEAR(z[3] + z[4] + z[5], 0, 1e-6);
}

/// A class that counts three times as much: its loss, and its gradient.
TEST(CrossEntropy, EachRowIsMultipliedByTheWeightOfItsClass) {
  const std::vector<float> logits{1, 2, 0.5F, -1, 0.25F, 3};
  const std::vector<std::uint8_t> labels{1, 0};
  const std::vector<float> weights{3, 0.5F, 7};
  std::vector<float> z = logits;
  const double loss = softmax_cross_entropy(z, labels, 3, weights);
  double expected = 0;
  for (std::size_t r = 0; r < 2; ++r) {
    std::vector<float> row(logits.begin() + 3 * static_cast<std::ptrdiff_t>(r),
                           logits.begin() + 3 * static_cast<std::ptrdiff_t>(r + 1));
    const std::vector<std::uint8_t> label{labels[r]};
    const auto weight = static_cast<double>(weights[labels[r]]);
    expected += weight * softmax_cross_entropy(row, label, 3) / 2;
    for (std::size_t c = 0; c < 3; ++c)
      EXPECT_NEAR(z[3 * r + c], weight * static_cast<double>(row[c]) / 2, 1e-6) << r << c;
  }
  EXPECT_NEAR(loss, expected, 1e-6);
}

}  // namespace
}  // namespace gv
