#include <limits>

#include <gtest/gtest.h>

#include "peer/wire/tcp/timing.h"

namespace gv {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(NeighborClock, OfThisMachineIsOurs) {
  NeighborClock clock(true);
  EXPECT_EQ(clock.sent_at(seconds(5), seconds(6)), seconds(5));
  EXPECT_EQ(clock.sent_at(seconds(7), seconds(6)), seconds(6))
      << "nothing comes before it was sent";
}

TEST(NeighborClock, OfAnotherMachineCountsFromTheQuickestMessage) {
  NeighborClock clock(false);
  const Time apart = seconds(1000);  // their clock lags ours by this much
  const auto sent_at = [&](Time sent, Time way) {
    return clock.sent_at(sent - apart, sent + way) - sent;
  };
  EXPECT_EQ(sent_at(seconds(1), milliseconds(8)), milliseconds(8));
  EXPECT_EQ(sent_at(seconds(2), milliseconds(5)), milliseconds(5)) << "the quickest so far";
  EXPECT_EQ(sent_at(seconds(3), milliseconds(9)), milliseconds(5));
}

TEST(NeighborClock, ForgetsTheQuickestMessageAfterTwoWindows) {
  NeighborClock clock(false);
  clock.sent_at(seconds(0), seconds(0));
  // Their clock is slow: the difference grows by a second, as if messages took that much longer.
  for (int second = 1; second < 200; ++second) clock.sent_at(seconds(second - 1), seconds(second));
  EXPECT_EQ(clock.sent_at(seconds(199), seconds(200)), seconds(200));
}

TEST(NeighborClock, AnyStampGivesATimeThatIsNotAfterNow) {
  for (const bool same : {true, false}) {
    NeighborClock clock(same);
    for (const std::int64_t stamp : {std::numeric_limits<std::int64_t>::min(), std::int64_t{-1},
                                     std::int64_t{0}, std::numeric_limits<std::int64_t>::max()})
      EXPECT_LE(clock.sent_at(Time{stamp}, seconds(100)), seconds(100));
  }
}

TEST(NeighborClock, AMachineKnowsItsName) {
  EXPECT_NE(machine_id(), 0U);
  EXPECT_EQ(machine_id(), machine_id());
}

}  // namespace
}  // namespace gv
