#include "graph/predict/mean_lag.h"

#include <cmath>
#include <vector>

#include <gtest/gtest.h>

namespace gv {
namespace {

/// Returns the gradient flow from x = 1 on h x^2 / 2.
std::vector<DescentSlope> flow(double h, double until) {
  std::vector<DescentSlope> slopes;
  for (int k = 0; k <= 20; ++k) {
    const double time = until * k / 20;
    slopes.push_back({time, std::pow(h * std::exp(-h * time), 2)});
  }
  return slopes;
}

TEST(MeanLag, IsDescentThatHasComeLess) {
  for (const double h : {0.2, 1.0, 4.0}) {
    for (const double lag : {0.3, -0.3, 1.7}) {
      const auto loss = [h](double time) { return h * std::exp(-2 * h * time) / 2; };
      const double exact = loss(2 - lag) - loss(2);
      const double found = loss_behind(flow(h, 4), 2, lag);
      EXPECT_NEAR(found, exact, 1e-9 * std::abs(exact)) << h << " " << lag;
    }
  }
}

TEST(MeanLag, DoesNotGoBehindTheStart) {
  const auto slopes = flow(1, 2);
  EXPECT_EQ(loss_behind(slopes, 2, 5), loss_behind(slopes, 2, 2));
  EXPECT_EQ(loss_behind(slopes, 2, 0), 0);
  EXPECT_EQ(loss_behind({}, 2, 1), 0);
  EXPECT_NEAR(loss_behind(slopes, 2, -1), -std::exp(-4), 1e-12) << "the last slope stays";
}

TEST(MeanLag, LiesBetweenPointsInTheLogarithmOfTime) {
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
