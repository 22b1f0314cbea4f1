// Times at which a neighbour is dialled again.
#include "gossip/link/link.h"
#include "tests/gossip/link/one_link.h"

namespace gv {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST_F(OneLink, AFreshLinkThatDiesAtOnceIsDialledWithPauses) {
  make();
  for (int k = 0; k < 200; ++k) {
    links->ended(meet(), "reset", now);
    pass(milliseconds(100));
  }
  EXPECT_LT(dial_times.size(), 60U) << "in 20 s, at half a second each";
  EXPECT_GT(dial_times.size(), 20U);
  int lines = 0;
  for (const char c : log) lines += c == '\n' ? 1 : 0;
  EXPECT_LT(lines, 200) << log;
}

TEST_F(OneLink, ALinkThatHasCarriedAMessageIsDialledAtOnce) {
  make();
  for (std::uint64_t k = 0; k < 10; ++k) {
    Hello hello = hello_of(1);
    hello.received = k;
    const ConnectionId c = meet(hello);
    links->send(1, message(0, 7), now);
    links->arrived(c, Heartbeat{.ack = k + 1}, now);
    const std::size_t dials = dial_times.size();
    links->ended(c, "reset", now);
    pass(milliseconds(0));
    EXPECT_EQ(dial_times.size(), dials + 1);
  }
}

TEST_F(OneLink, ALinkThatHasLivedIsDialledAtOnce) {
  const ConnectionId c = meet();
  for (int k = 0; k < 4; ++k) {
    pass(milliseconds(500));
    links->arrived(c, Heartbeat{}, now);
  }
  const std::size_t before = dial_times.size();
  links->ended(c, "reset", now);
  pass(Time{1});
  EXPECT_EQ(dial_times.size(), before + 1);
}

TEST_F(OneLink, AnAttemptThatIsNotAnsweredIsGivenUp) {
  make();
  const ConnectionId c = dialled.at(1);
  pass(seconds(3));
  EXPECT_TRUE(closed(c));
  pass(seconds(1));
  EXPECT_NE(dialled.at(1), c);
}

}  // namespace
}  // namespace gv
