#include "peer/predict/calibrate/drift.h"

#include <array>
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

namespace gv {
namespace {

constexpr double forever = std::numeric_limits<double>::infinity();

using Matrix3 = std::array<std::array<double, 3>, 3>;

/// Three peers with gradients b_i + H_i x; their mean Hessian is diag(3, 1, 0.1).
struct Quadratics {
  std::array<Matrix3, 3> h{{{{{4, 0.5, 0.2}, {0.5, 0.4, 0}, {0.2, 0, 0.1}}},
                            {{{3, -0.5, 0.1}, {-0.5, 1.6, 0}, {0.1, 0, 0.2}}},
                            {{{2, 0, -0.3}, {0, 1, 0}, {-0.3, 0, 0}}}}};
  std::array<Doubles, 3> b{{{1.5, 0, 0.7}, {-0.5, 2, 0.2}, {0.5, -0.5, 0.9}}};
  std::vector<float> g;

  DisplacedGradients gradients() {
    return {3, [this](std::size_t i, const Doubles& x) -> const std::vector<float>& {
              g.assign(3, 0);
              for (std::size_t a = 0; a < 3; ++a) {
                double sum = b[i][a];
                for (std::size_t k = 0; k < 3; ++k) sum += h[i][a][k] * x[k];
                g[a] = static_cast<float>(sum);
              }
              return g;
            }};
  }
  Doubles mean() const {
    Doubles m(3);
    for (const Doubles& row : b) add_scaled(m, 1.0 / 3, row);
    return m;
  }
  std::vector<Doubles> deviations() const {
    std::vector<Doubles> d(b.begin(), b.end());
    for (Doubles& row : d) add_scaled(row, -1, mean());
    return d;
  }
  /// (1/n) sum_i H_i[a][k] d_i[k].
  double drag(std::size_t a, std::size_t k) const {
    double sum = 0;
    for (std::size_t i = 0; i < 3; ++i) sum += h[i][a][k] * deviations()[i][k] / 3;
    return sum;
  }
};

const LeadingPairs two_axes{{3, 1}, {{1, 0, 0}, {0, 1, 0}}};

TEST(Drift, OfPeersWithOtherHessians) {
  Quadratics q;
  const Drift drift =
      find_drift(q.gradients(), two_axes, q.mean(), q.deviations(), {{0, 0, 2}}, 4, forever);
  ASSERT_EQ(drift.axes.size(), 3U);
  ASSERT_EQ(drift.sources.size(), 3U);
  const double side = drift.axes[2].value > 0 ? 1 : -1;  // an axis has no sign
  EXPECT_NEAR(drift.axes[2].curvature, 0.1, 1e-4);
  EXPECT_NEAR(side * drift.axes[2].value, q.mean()[2], 1e-6);
  EXPECT_NEAR(drift.axes[0].value, q.mean()[0], 1e-6);
  for (std::size_t k = 0; k < 3; ++k) {
    for (std::size_t a = 0; a < 3; ++a) {
      const double turned = a == 2 ? side : 1;
      EXPECT_NEAR(turned * drift.sources[k].of_deviation[a], q.drag(a, k), 1e-4) << k << a;
      EXPECT_NEAR(drift.sources[k].of_variance[a], 0, 1e-3) << k << a;
    }
  }
}

TEST(Drift, OfPullsThatLast) {
  Quadratics q;
  for (const double age : {forever, 0.3}) {
    const Drift drift = find_drift(q.gradients(), two_axes, q.mean(), q.deviations(), {}, 4, age);
    ASSERT_FALSE(drift.lasting.empty());
    EXPECT_NEAR(drift.lasting[0].memory, 0.25 / 3, 1e-12);
    for (const Drift::Lasting& lasting : drift.lasting) {
      double expected = 0;
      for (std::size_t k = 0; k < 3; ++k) {
        const double r = std::array{3.0, 1.0, 0.1}[k] + 1 / lasting.memory;
        expected -= q.drag(0, k) * (1 - std::exp(-r * age)) / r;
      }
      EXPECT_NEAR(lasting.push[0], expected, 2e-4) << lasting.memory;
    }
  }
  EXPECT_TRUE(
      find_drift(q.gradients(), two_axes, q.mean(), q.deviations(), {}, 4, 0).lasting.empty());
}

TEST(Drift, OfALossThatBends) {
  std::vector<float> g(2);
  // f = x^2 + y^2 / 2 + 3 x y^2, the gradient at (0.2, 0) + offset
  const DisplacedGradients both{
      2, [&](std::size_t, const Doubles& v) -> const std::vector<float>& {
        const double x = 0.2 + v[0];
        g = {static_cast<float>(2 * x + 3 * v[1] * v[1]), static_cast<float>(v[1] + 6 * x * v[1])};
        return g;
      }};
  const LeadingPairs leading{{2.2, 2}, {{0, 1}, {1, 0}}};
  const Drift drift = find_drift(both, leading, {0.4, 0}, {{0.1, 0}, {-0.1, 0}}, {}, 4, forever);
  EXPECT_NEAR(drift.sources[0].of_variance[1], 3, 1e-3);  // 1/2 d3f / dy dy dx
  EXPECT_NEAR(drift.sources[1].of_variance[1], 0, 1e-3);
  EXPECT_NEAR(drift.sources[1].of_deviation[1], 0, 1e-3);  // both have one Hessian
}

}  // namespace
}  // namespace gv
