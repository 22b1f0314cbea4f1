#include "peer/tcp/standstill.h"

#include <gtest/gtest.h>

namespace gv {
namespace {

using std::chrono::milliseconds;

TEST(Standstill, IsNotWhatABusyLoopIsLateBy) {
  Standstill standstill(Time{0});
  for (int k = 1; k <= 10; ++k) {
    EXPECT_EQ(standstill.total(k * milliseconds(400)), Time{0});
    standstill.beat(k * milliseconds(400));
  }
}

/// Who was stopped hears of a message before its own beat.
TEST(Standstill, IsKnownBeforeTheBeatThatWasDueAndAfterIt) {
  Standstill standstill(Time{0});
  standstill.beat(milliseconds(250));
  EXPECT_EQ(standstill.total(milliseconds(4500)), milliseconds(4000));
  standstill.beat(milliseconds(4500));
  EXPECT_EQ(standstill.total(milliseconds(4700)), milliseconds(4000));
  EXPECT_EQ(standstill.total(milliseconds(6750)), milliseconds(6000));
}

}  // namespace
}  // namespace gv
