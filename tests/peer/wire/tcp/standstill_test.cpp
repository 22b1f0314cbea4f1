#include <gtest/gtest.h>

#include "peer/wire/tcp/tcp_world_impl.h"

namespace gv {
namespace {

using std::chrono::milliseconds;

TEST(Standstill, IsNotWhatABusyLoopIsLateBy) {
  Standstill standstill(Time{0});
  for (int k = 1; k <= 10; ++k) {
    EXPECT_EQ(standstill.total(k * milliseconds(400), k * milliseconds(395)), Time{0});
    standstill.beat(k * milliseconds(400), k * milliseconds(395));
  }
}

/// A process that was stopped may receive a message before its own beat.
TEST(Standstill, IsKnownBeforeTheBeatThatWasDueAndAfterIt) {
  Standstill standstill(Time{0});
  standstill.beat(milliseconds(10), Time{0});
  EXPECT_EQ(standstill.total(milliseconds(4020), Time{0}), milliseconds(4000));
  standstill.beat(milliseconds(4020), Time{0});
  EXPECT_EQ(standstill.total(milliseconds(4030), Time{0}), milliseconds(4000));
  EXPECT_EQ(standstill.total(milliseconds(6030), Time{0}), milliseconds(6000));
}

/// With a twentieth of a processor, in turns of a tenth of a second, no stop was once noticed.
/// Peers that waited for such a process seemed to wait for its network.
TEST(Standstill, IsAShortStopToo) {
  Standstill standstill(Time{0});
  Time now{0};
  Time worked{0};
  for (int turn = 0; turn < 100; ++turn) {
    now += milliseconds(5);
    worked += milliseconds(5);
    now += milliseconds(95);
    standstill.beat(now, worked);
  }
  EXPECT_GE(standstill.total(now, worked), 80 * now / 100);
  EXPECT_LE(standstill.total(now, worked), 95 * now / 100);
}

/// Time that other processes use while the loop has work counts too.
TEST(Standstill, IsWhatIsMissingBesideTheLoopsOwnWork) {
  Standstill standstill(Time{0});
  standstill.beat(milliseconds(310), milliseconds(100));
  EXPECT_EQ(standstill.total(milliseconds(310), milliseconds(100)), milliseconds(200));
}

}  // namespace
}  // namespace gv
