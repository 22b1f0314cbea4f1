#include <gtest/gtest.h>

#include "gossip/exchange/exchange.h"

namespace gv {
namespace {

using std::chrono::seconds;

TEST(UsualTime, IsTheSecondLongestOfTheLastEight) {
  UsualTime usual;
  EXPECT_EQ(usual.get(), Time{0});
  usual.add(seconds(3));
  EXPECT_EQ(usual.get(), seconds(3));
  usual.add(seconds(8));
  EXPECT_EQ(usual.get(), seconds(3)) << "one may have been an accident";
  for (int k = 0; k < 6; ++k) usual.add(seconds(1));
  EXPECT_EQ(usual.get(), seconds(3));
  usual.add(seconds(1));
  EXPECT_EQ(usual.get(), seconds(1)) << "the first is forgotten";
}

}  // namespace
}  // namespace gv
