#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

#include "optim/host/gemm.h"
#include "optim/rng.h"

namespace gv {
namespace {

constexpr FullyConnected layer{.rows = 5, .in = 7, .out = 3};
using Matrix = std::vector<float>;

Matrix random_matrix(std::size_t size, std::uint64_t seed) {
  Matrix values(size);
  Rng(seed).fill_normal(values);
  return values;
}

TEST(FullyConnected, IsAnAffineMapOfEachRow) {
  const Matrix a = random_matrix(35, 1);
  const Matrix weight = random_matrix(21, 2);
  const Matrix bias = random_matrix(3, 3);
  for (const bool relu : {false, true}) {
    Matrix y(15, 99);
    layer.multiply(a.data(), weight.data(), y.data());
    layer.add_bias(bias.data(), relu, y.data());
    for (std::size_t r = 0; r < 5; ++r) {
      for (std::size_t c = 0; c < 3; ++c) {
        float z = bias[c];
        for (std::size_t k = 0; k < 7; ++k) z += a[r * 7 + k] * weight[c * 7 + k];
        EXPECT_NEAR(y[r * 3 + c], relu ? std::max(z, 0.0F) : z, 1e-5) << r << ", " << c;
      }
    }
  }
}

/// By the chain rule <dy, y> has the derivatives <dweight, .>, <da, .> and <dbias, .>; y is linear
/// in each, so they are exact.
TEST(FullyConnected, ItsGradientsAreTheAdjoints) {
  const Matrix a = random_matrix(35, 1);
  const Matrix weight = random_matrix(21, 2);
  const Matrix dy = random_matrix(15, 4);
  Matrix y(15);
  Matrix dweight(21, 99);
  Matrix dbias(3, 99);
  Matrix da(35, 99);
  layer.multiply(a.data(), weight.data(), y.data());
  layer.weight_gradient(a.data(), dy.data(), dweight.data());
  layer.bias_gradient(dy.data(), dbias.data());
  layer.input_gradient(dy.data(), weight.data(), da.data());
  const auto product = [](const Matrix& u, const Matrix& v) {
    double sum = 0;
    for (std::size_t k = 0; k < u.size(); ++k)
      sum += static_cast<double>(u[k]) * static_cast<double>(v[k]);
    return sum;
  };
  EXPECT_NEAR(product(dweight, weight), product(dy, y), 1e-4);
  EXPECT_NEAR(product(da, a), product(dy, y), 1e-4);
  const Matrix other = random_matrix(21, 5);
  layer.multiply(a.data(), other.data(), y.data());
  EXPECT_NEAR(product(dweight, other), product(dy, y), 1e-4);
  for (std::size_t c = 0; c < 3; ++c)
    EXPECT_NEAR(dbias[c], dy[c] + dy[3 + c] + dy[6 + c] + dy[9 + c] + dy[12 + c], 1e-5);
}

}  // namespace
}  // namespace gv
