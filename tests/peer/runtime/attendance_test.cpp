#include <gtest/gtest.h>

#include "peer/runtime/tcp_peer.h"

namespace gv {
namespace {

TEST(Attendance, SomebodyWasMissingUntilTheNextCheckpointAfterItsReturn) {
  Attendance all;
  EXPECT_FALSE(all.take_missed());
  all.heard(LinkEvent::lost, 2);
  EXPECT_FALSE(all.take_missed()) << "a connection alone: nothing is lost with it";
  all.heard(LinkEvent::away, 2);
  EXPECT_TRUE(all.take_missed());
  EXPECT_TRUE(all.take_missed()) << "it still is";
  all.heard(LinkEvent::away, 3);
  all.heard(LinkEvent::back, 2);
  EXPECT_TRUE(all.take_missed());
  all.heard(LinkEvent::died, 3);
  all.heard(LinkEvent::replaced, 3);
  EXPECT_TRUE(all.take_missed()) << "it was, since the last one";
  EXPECT_FALSE(all.take_missed());
}

}  // namespace
}  // namespace gv
