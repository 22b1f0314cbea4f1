#include "peer/study/predict/calibrate/krylov.h"

#include <cmath>

#include <gtest/gtest.h>

namespace gv {
namespace {

TEST(Krylov, FindsTheEigenpairsOfADiagonal) {
  const SymmetricProduct a = [](const Doubles& x) {
    Doubles y = x;
    for (std::size_t k = 0; k < y.size(); ++k) y[k] *= k == 0 ? 10 : 1 / static_cast<double>(k + 1);
    return y;
  };
  const LeadingPairs pairs = leading_pairs(a, Doubles(100, 1.0), 30, 1e-6);
  ASSERT_FALSE(pairs.values.empty());
  EXPECT_NEAR(pairs.values[0], 10, 1e-9);
  EXPECT_NEAR(std::abs(pairs.vectors[0][0]), 1, 1e-9);
  const KrylovQuadrature q = krylov_quadrature(a, Doubles(100, 1.0), 8);
  double mean = 0, exact = 0.1;
  for (std::size_t k = 0; k < q.nodes.size(); ++k) mean += q.weights[k] * q.nodes[k];
  for (int k = 2; k <= 100; ++k) exact += 0.01 / k;
  EXPECT_NEAR(mean, exact, 1e-10);
}

}  // namespace
}  // namespace gv
