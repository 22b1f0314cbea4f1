#include <cmath>
#include <numbers>

#include <gtest/gtest.h>

#include "graph/predict/local.h"

namespace gv {
namespace {

double cosine(std::uint64_t t) {
  return 0.05 * (1 + std::cos(std::numbers::pi * static_cast<double>(t) / 1000));
}

TEST(RateCourse, CountsTheStepsAlongAGradientThatStays) {
  for (const double momentum : {0.0, 0.9}) {
    const RateCourse course(cosine, 1000, momentum);
    double x = 0, u = 0;
    for (std::uint64_t t = 0; t < 1200; ++t) {
      EXPECT_NEAR(course.time(t), x, 1e-12 * (1 + x)) << t;
      u = momentum * u + 1;
      x += cosine(std::min<std::uint64_t>(t, 999)) * u;
    }
    for (const std::uint64_t t : {1U, 10U, 500U, 900U})
      EXPECT_EQ(course.rounds_until(course.time(t)), t);
    EXPECT_EQ(course.rounds_until(0), 0U);
  }
}

TEST(RateCourse, OfOneRateIsOneStretch) {
  const RateCourse course(0.1, 0.5);
  EXPECT_TRUE(course.constant());
  ASSERT_EQ(course.stretches(1000, 7).size(), 1U);
  EXPECT_EQ(course.stretches(1000, 7)[0].rounds, 994U);
  EXPECT_TRUE(course.stretches(6, 7).empty());
  EXPECT_NEAR(course.time(3), 0.1 * (1 + 1.5 + 1.75), 1e-12);
}

TEST(RateCourse, IsDividedWhereItsRatesDiffer) {
  const RateCourse course(cosine, 1000, 0);
  for (const std::uint64_t unit : {1U, 32U}) {
    const auto stretches = course.stretches(1000, unit);
    EXPECT_GT(stretches.size(), 8U);
    EXPECT_LT(stretches.size(), 300U);
    std::uint64_t rounds = 0;
    double time = 0;
    for (const RateStretch& s : stretches) {
      EXPECT_EQ(s.rounds % unit, 0U);
      rounds += s.rounds;
      time += s.rate * static_cast<double>(s.rounds);
    }
    EXPECT_EQ(rounds, 1000 / unit * unit);
    EXPECT_NEAR(time, course.time(rounds), 1e-9);
  }
}

TEST(RateCourse, FindsTheRoundOfAStep) {
  const RateCourse course([](std::uint64_t t) { return t < 333 ? 1.0 : 0.1; }, 1000, 0);
  std::uint64_t round = 0;
  for (const RateStretch& s : course.stretches(1000, 1)) {
    EXPECT_NEAR(s.rate, round < 333 ? 1.0 : 0.1, 1e-12);
    round += s.rounds;
  }
}

}  // namespace
}  // namespace gv
