#include <set>

#include <gtest/gtest.h>

#include "peer/study/bench/bench.h"

namespace gv {
namespace {

/// Each lane ends with a different value, so the compiler cannot save a multiply-add that the rate
/// counts.
TEST(FmaPeak, EachLaneOfEachChainIsComputed) {
  for (const FmaUnit& unit : fma_units()) {
    const std::vector<float> ends = unit.run(3);
    EXPECT_DOUBLE_EQ(2.0 * static_cast<double>(std::set<float>(ends.begin(), ends.end()).size()),
                     unit.flops_per_step())
        << unit.name;
  }
}

TEST(FmaPeak, AChainIsAsManyMultiplyAddsAsSteps) {
  for (const FmaUnit& unit : fma_units()) {
    float value = 5;
    for (int step = 0; step < 40; ++step) value = value * 0.999F + 0.001F;
    EXPECT_NEAR(unit.run(40).at(5), value, 1e-4F) << unit.name;
  }
}

}  // namespace
}  // namespace gv
