#include <algorithm>

#include <gtest/gtest.h>

#include "tests/peer/sim/blame_draw.h"

// One rule names what was planted, in whatever fleet it was planted.

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
    if (!planted) {  // nobody waits long for it, and for nobody else either
      EXPECT_FALSE(fleet.synchronous()) << fleet.text();
      EXPECT_EQ(fleet.words().size(), names_any(fleet.words(), causes.at(0)) ? 1U : 0U)
          << fleet.text();
      continue;
    }
    ++judged;
    for (const BlameDraw::Names& names : causes)
      EXPECT_TRUE(names_any(fleet.words(), names)) << fleet.text();
    if (causes.size() == 1 && !fleet.words().empty()) {
      EXPECT_TRUE(causes[0].contains(fleet.words()[0])) << fleet.text();
    }
  }
  EXPECT_GE(judged, fleets / 2);
}

INSTANTIATE_TEST_SUITE_P(Seeds, DrawnBlame, testing::Range(0, 8));

}  // namespace
}  // namespace gv
