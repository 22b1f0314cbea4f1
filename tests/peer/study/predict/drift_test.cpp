#include <array>
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "peer/study/predict/calibrate/local_calibration.h"

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

const std::vector<Doubles> three{{1, 0, 0}, {0, 1, 0}, {0.5, 0, 2}};

TEST(Drift, OfPeersWithOtherHessians) {
  Quadratics q;
  const Drift drift =
      find_drift(q.gradients(), two_axes, three, q.deviations(), {{0, 0, 2}}, forever);
  ASSERT_EQ(drift.adjoints, 3U);
  ASSERT_EQ(drift.sources.size(), 3U);
  for (std::size_t k = 0; k < 3; ++k) {
    for (std::size_t a = 0; a < 3; ++a) {
      double expected = 0;
      for (std::size_t c = 0; c < 3; ++c) expected += three[a][c] * q.drag(c, k);
      EXPECT_NEAR(drift.sources[k].of_deviation[a], expected, 2e-4) << k << a;
      EXPECT_NEAR(drift.sources[k].of_variance[a], 0, 2e-3) << k << a;
    }
  }
}

TEST(Drift, OfPullsThatLast) {
  Quadratics q;
  for (const double age : {forever, 0.3}) {
    const Drift drift = find_drift(q.gradients(), two_axes, three, q.deviations(), {}, age);
    ASSERT_FALSE(drift.lasting.empty());
    EXPECT_NEAR(drift.lasting[0].memory, 0.25 / 3, 1e-12);
    for (const Drift::Lasting& lasting : drift.lasting) {
      double expected = 0;
      for (std::size_t k = 0; k < 3; ++k) {
        const double r = std::array{3.0, 1.0, 0.1}[k] + 1 / lasting.memory;
        expected -= q.drag(0, k) * (1 - std::exp(-r * age)) / r;
      }
      EXPECT_NEAR(lasting.odd[0], expected, 2e-4) << lasting.memory;
      EXPECT_NEAR(lasting.even[0], 0, 2e-4) << "a quadratic does not bend";
    }
  }
  EXPECT_TRUE(find_drift(q.gradients(), two_axes, three, q.deviations(), {}, 0).lasting.empty());
  EXPECT_EQ(find_drift(q.gradients(), two_axes, {}, q.deviations(), {}, 1).adjoints, 0U);
}

TEST(Drift, OfALossThatBends) {
  std::vector<float> g(2);
  // f = x^2 + y^2 / 2 + 3 x y^2; this is its gradient at (0.2, 0) + offset
  const DisplacedGradients both{
      2, [&](std::size_t, const Doubles& v) -> const std::vector<float>& {
        const double x = 0.2 + v[0];
        g = {static_cast<float>(2 * x + 3 * v[1] * v[1]), static_cast<float>(v[1] + 6 * x * v[1])};
        return g;
      }};
  const LeadingPairs leading{{2.2, 2}, {{0, 1}, {1, 0}}};
  const std::vector<Doubles> along{{1, 0}};
  const Drift drift = find_drift(both, leading, along, {{0, 0.1}, {0, -0.1}}, {}, forever);
  EXPECT_NEAR(drift.sources[0].of_variance[0], 3, 1e-3);  // 1/2 d3f / dy dy dx
  EXPECT_NEAR(drift.sources[1].of_variance[0], 0, 1e-3);
  EXPECT_NEAR(drift.sources[1].of_deviation[0], 0, 1e-3);  // both have one Hessian
  for (const Drift::Lasting& lasting : drift.lasting) {
    const double m = 0.1 / (2.2 + 1 / lasting.memory);
    EXPECT_NEAR(lasting.even[0], 3 * m * m, 1e-5 + 0.01 * m * m);
    EXPECT_NEAR(lasting.odd[0], 0, 1e-6);
  }
}

}  // namespace
}  // namespace gv
