#include "graph/predict/mean_drift.h"

#include <cmath>

#include <gtest/gtest.h>

namespace gv {
namespace {

/// Gradient flow from x = 1 on h x^2 / 2, pushed by a constant; until time 2.
std::vector<DriftPoint> flow(double h, double push) {
  std::vector<DriftPoint> points;
  for (int k = 0; k <= 400; ++k) {
    const double time = 2 * k / 400.0;
    points.push_back({time, {{h, h * std::exp(-h * time)}}, {push}});
  }
  return points;
}

TEST(MeanDrift, IsWhatAPushDoesToAQuadratic) {
  for (const double h : {1e-12, 0.2, 1.0, 8.0, 100.0}) {
    for (const double push : {0.02, -0.02}) {
      const double x = std::exp(-2 * h);
      const double lag = h > 1e-9 ? -push * (1 - x) / h : -2 * push;
      const double exact = h * (std::pow(x + lag, 2) - x * x) / 2;
      EXPECT_NEAR(drift_excess(flow(h, push), 2), exact, 0.01 * std::abs(exact) + 1e-12)
          << h << " " << push;
    }
  }
}

TEST(MeanDrift, KeepsTheLastPointsPush) {
  const std::vector<DriftPoint> points{{0, {{0, 1}}, {-1}}, {1, {{0, 1}}, {-1}}};
  EXPECT_NEAR(drift_excess(points, 3), 3, 1e-9);
  EXPECT_EQ(drift_excess(points, 0), 0);
  EXPECT_EQ(drift_excess(std::vector<DriftPoint>{{0, {}, {}}, {1, {}, {}}}, 3), 0);
}

TEST(MeanDrift, IsForgottenAsTheGradientIs) {
  // Flat where it was pushed, and yet the gradient has fallen to a tenth since.
  const std::vector<DriftPoint> points{{0, {{0, 1}}, {1}}, {1, {{0, 0.1}}, {0}}};
  EXPECT_NEAR(drift_excess(points, 1), -0.5 * 0.01, 1e-4);
}

TEST(MeanDrift, LiesBetweenPointsInTheLogarithmOfTime) {
  const std::vector<double> times{0, 1, 4, 16};
  const auto at = [&](double time) {
    const Between b = between_points(times, time);
    return static_cast<double>(b.point) + b.weight;
  };
  EXPECT_EQ(at(0), 0);
  EXPECT_NEAR(at(0.25), 0.25, 1e-12);
  EXPECT_EQ(at(1), 1);
  EXPECT_NEAR(at(2), 1.5, 1e-12);
  EXPECT_NEAR(at(8), 2.5, 1e-12);
  EXPECT_EQ(at(100), 3);
}

}  // namespace
}  // namespace gv
