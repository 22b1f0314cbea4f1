// The end of a conversation: goodbyes, and the peers for which a peer waits after its own.
#include "gossip/life/presence.h"
#include "gossip/link/link_settings.h"
#include "tests/gossip/link/one_link.h"

namespace gv {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST_F(OneLink, StaysUntilTheNeighbourHasAll) {
  const ConnectionId c = meet();
  links->send(1, message_of(0, Kind::goodbye, 9), now);
  links->end(now);
  EXPECT_EQ(leaves, 0);
  links->arrived(c, Heartbeat{.ack = 1}, now);
  EXPECT_EQ(leaves, 1);
}

TEST_F(OneLink, WaitsOnlySoLongForWhoIsAwayAtTheEnd) {
  const ConnectionId c = meet();
  links->send(1, message_of(0, Kind::goodbye, 9), now);
  user.finishing = now;
  links->end(now);
  links->ended(c, "reset", now);
  pass(milliseconds(3900));
  EXPECT_EQ(leaves, 0);
  EXPECT_NE(log.find("done; peer 1 is away"), std::string::npos) << log;
  pass(milliseconds(200));
  EXPECT_EQ(leaves, 1);
  EXPECT_NE(log.find("may count at our end only"), std::string::npos) << log;
}

TEST_F(OneLink, WaitsOnlySoLongForWhoIsThereAndAcknowledgesNothing) {
  const ConnectionId c = meet();
  links->send(1, message_of(0, Kind::goodbye, 9), now);
  links->end(now);
  for (int k = 0; k < 61; ++k) {
    EXPECT_EQ(leaves, k < 60 ? 0 : 1) << k;
    links->arrived(c, Heartbeat{}, now);
    pass(milliseconds(500));
  }
}

TEST_F(OneLink, AGoodbyeIsAcknowledgedAtOnce) {
  const ConnectionId c = meet();
  links->arrived(c, NumberedMessage{message_of(1, Kind::goodbye), 1, 0}, now);
  ASSERT_EQ(frames<Heartbeat>().size(), 1U);
  EXPECT_EQ(frames<Heartbeat>()[0].ack, 1U);
  // Its end is no news, and no peer waits for it. Its messages count, so the peer need not continue
  // without it.
  links->ended(c, "closed", now);
  pass(milliseconds(100));
  links->nobody_listens(1, "refused", now);
  links->ended(dialled.at(1), "refused", now);
  const std::size_t dials = dial_times.size();
  pass(seconds(10));
  EXPECT_EQ(dial_times.size(), dials);
  EXPECT_EQ(log, "");
  EXPECT_TRUE(user.told.empty());
}

/// Found by the swarm: a peer left before its last round, died and was restarted, but a data server
/// continued without it.
TEST_F(OneLink, WhoLeftBeforeItsLastRoundMayHaveASuccessor) {
  for (const std::uint32_t part : {0U, leaves_early}) {
    SCOPED_TRACE(part);
    make();
    closings.clear();
    const ConnectionId c = meet();
    Message goodbye = message_of(1, Kind::goodbye);
    goodbye.part = part;
    links->arrived(c, NumberedMessage{goodbye, 1, 0}, now);
    links->ended(c, "reset", now);
    pass(seconds(2));
    user.told.clear();
    EXPECT_EQ(closed(meet(hello_of(1, 2))), part == 0);
    EXPECT_EQ(user.told,
              part == 0 ? std::vector<std::string>{} : std::vector<std::string>{"replaced 1"});
  }
}

/// A peer that left early is never reported away, since its goodbye was its last message, but its
/// death is reported, once, because a successor may come.
TEST_F(OneLink, WhoLeftBeforeItsLastRoundIsToldDeadOnce) {
  const ConnectionId c = meet();
  Message goodbye = message_of(1, Kind::goodbye);
  goodbye.part = leaves_early;
  links->arrived(c, NumberedMessage{goodbye, 1, 0}, now);
  links->ended(c, "reset", now);
  for (int k = 0; k < 3; ++k) {
    links->nobody_listens(1, "refused", now);
    pass(seconds(1));
  }
  EXPECT_EQ(user.told, std::vector<std::string>{"died 1"});
}

}  // namespace
}  // namespace gv
