#include "peer/runtime/aims.h"

#include <limits>

#include <gtest/gtest.h>

namespace gv {
namespace {

TEST(ProgressWatch, LooksAtTheLossUnlessATargetSaysWhat) {
  ProgressWatch loss({});
  EXPECT_TRUE(loss.see(2.0));
  EXPECT_FALSE(loss.see(2.0));
  EXPECT_TRUE(loss.see(1.0));
  EXPECT_FALSE(loss.see(3.0));
  EXPECT_EQ(loss.best(), 1.0);
  ProgressWatch accuracy(
      {.target = TargetSpec{.figure = TargetSpec::Figure::accuracy, .value = 0.9}});
  EXPECT_TRUE(accuracy.see(0.5));
  EXPECT_TRUE(accuracy.see(0.6));
  EXPECT_FALSE(accuracy.see(0.5));
}

TEST(ProgressWatch, IsOutOfPatienceAfterSoManyThatAreNoBetter) {
  ProgressWatch watch({.patience = 2});
  watch.see(2.0);
  watch.see(2.5);
  EXPECT_FALSE(watch.out_of_patience());
  watch.see(1.0);  // begins to count anew
  watch.see(std::nullopt);
  EXPECT_FALSE(watch.out_of_patience());
  watch.see(std::numeric_limits<double>::quiet_NaN());
  EXPECT_TRUE(watch.out_of_patience());
}

/// A run whose patience is over and that is resumed all the same would never end: it waits for an
/// evaluation that nobody takes any more.
TEST(ProgressWatch, HasOneMoreEvaluationAfterAResume) {
  ProgressWatch watch({.patience = 2});
  for (const double loss : {1.0, 2.0, 3.0, 4.0}) watch.recall(loss);
  EXPECT_FALSE(watch.out_of_patience());
  watch.see(2.0);
  EXPECT_TRUE(watch.out_of_patience());
}

}  // namespace
}  // namespace gv
