#include <gtest/gtest.h>

#include "gossip/link/link_settings.h"

namespace gv {
namespace {

constexpr Time patience{10};

TEST(Farewell, NothingIsOwedToWhoHasAllOrIsGone) {
  EXPECT_TRUE(may_leave({.told = true, .linked = true}, Time{0}, patience));
  EXPECT_TRUE(may_leave({.told = true, .away = true}, Time{0}, patience));
  EXPECT_TRUE(may_leave({.dead = true, .away = true}, Time{0}, patience));
  EXPECT_TRUE(may_leave({.heard = true}, Time{0}, patience));
}

TEST(Farewell, WhoLivesAndLacksItsHalfIsWaitedFor) {
  EXPECT_FALSE(may_leave({.linked = true}, Time{1000}, patience));
  EXPECT_FALSE(may_leave({.heard = true, .linked = true}, Time{1000}, patience));
  EXPECT_FALSE(may_leave({}, Time{1000}, patience)) << "its connection has only just broken";
}

TEST(Farewell, ButNotForEver) {
  EXPECT_FALSE(may_leave({.away = true, .since = Time{5}}, Time{14}, patience));
  EXPECT_TRUE(may_leave({.away = true, .since = Time{5}}, Time{15}, patience));
}

}  // namespace
}  // namespace gv
