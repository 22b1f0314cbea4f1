#include <algorithm>

#include <gtest/gtest.h>

#include "tests/peer/sim/blame_draw.h"

// One rule names the planted cause in every drawn fleet.

namespace gv {
namespace {

bool names_any(const Words& words, const BlameDraw::Names& names) {
  return std::ranges::any_of(words, [&](const std::string& word) { return names.contains(word); });
}

class DrawnBlame : public testing::TestWithParam<int> {};

TEST_P(DrawnBlame, NamesWhatWasPlanted) {
  constexpr int fleets = 8;
  int judged = 0;
  for (int k = 0; k < fleets; ++k) {
    BlameDraw fleet(static_cast<std::uint64_t>(fleets * GetParam() + k));
    const bool planted = fleet.plant();
    const std::vector<BlameDraw::Names> causes = fleet.expected();
    if (!fleet.synchronous()) {  // hardly any peer waits for it, and none for another peer
      for (const std::string& word : fleet.words())
        EXPECT_TRUE(!word.starts_with("peer") || names_any({word}, causes.at(0))) << fleet.text();
      continue;
    }
    ++judged;
    EXPECT_TRUE(planted) << fleet.text();
    for (const BlameDraw::Names& names : causes)
      EXPECT_TRUE(names_any(fleet.words(), names)) << fleet.text();
    if (!fleet.has_two() && !fleet.words().empty()) {
      EXPECT_TRUE(causes.at(0).contains(fleet.words()[0])) << fleet.text();
    }
  }
  EXPECT_GE(judged, fleets / 3);
}

INSTANTIATE_TEST_SUITE_P(Seeds, DrawnBlame, testing::Range(0, 8));

}  // namespace
}  // namespace gv
