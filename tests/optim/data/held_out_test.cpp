#include <algorithm>
#include <set>

#include <gtest/gtest.h>

#include "optim/data/set_apart.h"

namespace gv {
namespace {

TEST(HeldOut, IsThatPartOnceEachInAscendingOrder) {
  const std::vector<std::uint32_t> rows = held_out_rows(1000, 0.2, Rng(1));
  EXPECT_EQ(rows.size(), 200U);
  EXPECT_TRUE(std::ranges::is_sorted(rows));
  EXPECT_EQ(std::set(rows.begin(), rows.end()).size(), rows.size());
  EXPECT_LT(rows.back(), 1000U);
  EXPECT_EQ(rows, held_out_rows(1000, 0.2, Rng(1)));
  EXPECT_NE(rows, held_out_rows(1000, 0.2, Rng(2)));
}

TEST(HeldOut, LeavesAtLeastOneSampleOnEachSide) {
  EXPECT_EQ(held_out_rows(2, 0.001, Rng(1)).size(), 1U);
  EXPECT_EQ(held_out_rows(2, 0.999, Rng(1)).size(), 1U);
}

}  // namespace
}  // namespace gv
