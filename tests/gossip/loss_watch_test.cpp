#include <limits>

#include <gtest/gtest.h>

#include "gossip/life/reports.h"
#include "optim/rng.h"

namespace gv {
namespace {

/// Returns the loss of a model that learns: from `first` towards zero, with noise.
double learning(double first, Round round, Rng& rng) {
  return first * std::exp(-0.05 * static_cast<double>(round)) * std::exp(rng.normal());
}

TEST(LossWatch, FindsARiseInItsSecondMinibatch) {
  Rng rng(1);
  LossWatch watch;
  for (Round round = 0; round < 40; ++round)
    ASSERT_FALSE(watch.see(round, learning(2.3, round, rng)));
  EXPECT_FALSE(watch.see(40, 1e5)) << "one minibatch may hold a sample like no other";
  const std::optional<LossRise> rise = watch.see(41, 1e4);
  ASSERT_TRUE(rise);
  EXPECT_EQ(rise->round, 41U);
  EXPECT_EQ(rise->to, 1e4);
  EXPECT_LT(rise->from, 2);
  EXPECT_FALSE(watch.see(42, 1e9)) << "it is told once";
  EXPECT_EQ(watch.first(), rise);
}

TEST(LossWatch, FindsALossThatIsNoNumber) {
  LossWatch watch;
  ASSERT_TRUE(watch.see(0, std::numeric_limits<double>::quiet_NaN()));
  EXPECT_TRUE(LossWatch().see(3, std::numeric_limits<double>::infinity()));
}

/// One outlier, a loss that reaches zero and fluctuates there, a chi-square variable with one
/// degree of freedom, and a loss that doubles each round because the rate is too high.
TEST(LossWatch, IsSilentWhereTrainingIsTheCause) {
  Rng rng(2);
  LossWatch outlier, zero, square, doubling;
  for (Round round = 0; round < 100'000; ++round) {
    ASSERT_FALSE(outlier.see(round, round % 1000 == 999 ? 1e6 : 0.01)) << round;
    ASSERT_FALSE(zero.see(round, round < 1000 ? learning(100, round, rng) : 1e-20 * rng.normal()))
        << round;
    const double x = rng.normal();
    ASSERT_FALSE(square.see(round, x * x)) << round;
  }
  for (Round round = 0; round < 100; ++round)
    ASSERT_FALSE(doubling.see(round, std::pow(2.0, static_cast<double>(round)))) << round;
}

/// An agent once reported that its loss rose from 0, when its memory became large enough.
TEST(LossWatch, NothingRisesFromWhereThereWasNothingToLearnFrom) {
  LossWatch watch;
  for (Round round = 0; round < 500; ++round) ASSERT_FALSE(watch.see(round, 0));
  for (Round round = 500; round < 600; ++round) ASSERT_FALSE(watch.see(round, 2)) << round;
  ASSERT_FALSE(watch.see(600, 1e4));
  EXPECT_TRUE(watch.see(601, 1e4));
}

}  // namespace
}  // namespace gv
