#include "optim/machine/stopwatch.h"

#include <gtest/gtest.h>

namespace gv {
namespace {

TEST(Stopwatch, TheMedianIsTheOneInTheMiddle) {
  EXPECT_EQ(median({3}), 3);
  EXPECT_EQ(median({9, 1, 5}), 5);
  EXPECT_EQ(median({4, 1, 3, 2}), 3);
}

TEST(Stopwatch, AQuarterIsBelowTheLowerQuartile) {
  EXPECT_EQ(lower_quartile({3}), 3);
  EXPECT_EQ(lower_quartile({9, 1, 5}), 1);
  EXPECT_EQ(lower_quartile({8, 4, 1, 6, 3, 2, 7, 5}), 3);
}

TEST(Stopwatch, RepeatsAsOftenAsItIsTold) {
  int calls = 0;
  const MedianTime time =
      median_time({.seconds = 0, .least = 7, .calls = 3, .warmup = 2}, [&] { ++calls; });
  EXPECT_EQ(calls, 2 + 7 * 3);
  EXPECT_EQ(time.measurements, 7U);
  EXPECT_GE(time.seconds, 0);
  EXPECT_GE(time.cpu_seconds, 0);
}

}  // namespace
}  // namespace gv
