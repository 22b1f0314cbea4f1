#include <gtest/gtest.h>

#include "peer/launch/launcher/launcher.h"

namespace gv {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(Restarts, ComeLaterAndLaterAndThenNoMore) {
  Restarts restarts;
  Time pause = milliseconds(100);
  for (int k = 0; k < Restarts::most_in_a_row; ++k, pause *= 2)
    EXPECT_EQ(restarts.pause_after(milliseconds(300)), pause);
  EXPECT_EQ(restarts.pause_after(milliseconds(300)), std::nullopt);
}

/// In a fleet whose members came and went for minutes, each peer was once given up after its tenth
/// death, until no peer was left.
TEST(Restarts, WhoHasLivedForAWhileMayDieAsOftenAsItLikes) {
  Restarts restarts;
  for (int k = 0; k < 1000; ++k) {
    EXPECT_EQ(restarts.pause_after(Restarts::a_while), milliseconds(100));
    restarts.count();
  }
  EXPECT_EQ(restarts.pause_after(seconds(1)), milliseconds(200));
  EXPECT_EQ(restarts.all(), 1000);
}

}  // namespace
}  // namespace gv
