#include <gtest/gtest.h>

#include "optim/rng.h"
#include "tests/gossip/link/memory_net.h"

namespace gv {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

/// However often the connections of two peers break, each receives every message of the other, once
/// and in order.
TEST(Conversation, SurvivesEverythingThatHappensToItsConnections) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    Rng rng(seed);
    MemoryNet net;
    net.start(settings_of(0, 2, {1}));
    net.start(settings_of(1, 2, {0}));
    std::vector<Round> sent[2];
    for (Round k = 1; k <= 300; ++k) {
      const auto from = static_cast<PeerId>(rng.below(2));
      sent[from].push_back(k);
      net.send(from, 1 - from, Kind::contribution, k, 8);
      if (rng.below(10) == 0) net.break_connections(0, 1);
      if (rng.below(40) == 0) net.hold(true);
      if (rng.below(20) == 0) net.hold(false);
      if (rng.below(40) == 0) net.block(true);
      if (rng.below(20) == 0) net.block(false);
      net.run(Time{static_cast<std::int64_t>(rng.below(300'000'000))});
    }
    net.hold(false);
    net.block(false);
    const auto& zero = net.process(0).user.taken;
    const auto& one = net.process(1).user.taken;
    EXPECT_TRUE(net.until([&] { return zero == sent[1] && one == sent[0]; })) << "seed " << seed;
  }
}

TEST(Conversation, EndsAtBothEndsWhereverTheLastConnectionBreaks) {
  for (int when = 0; when < 40; ++when) {
    MemoryNet net;
    MemoryNet::Process& zero = net.start(settings_of(0, 2, {1}));
    MemoryNet::Process& one = net.start(settings_of(1, 2, {0}));
    ASSERT_TRUE(net.until([&] { return zero.begun && one.begun; }));
    for (MemoryNet::Process* process : {&zero, &one}) {
      net.send(process->id, 1 - process->id, Kind::goodbye, 5);
      process->user.finishing = net.now();
      process->links.end(net.now());
      net.run(milliseconds(when / 8));
    }
    net.run(milliseconds(when % 8));
    net.break_connections(0, 1);
    const Time before = net.now();
    EXPECT_TRUE(net.until([&] { return zero.left && one.left; })) << when;
    EXPECT_LT(net.now() - before, seconds(1)) << when;
    EXPECT_EQ(one.user.taken, (std::vector<Round>{5}));
  }
}

TEST(Conversation, AProcessThatDiesIsReplaced) {
  MemoryNet net;
  MemoryNet::Process& zero = net.start(settings_of(0, 2, {1}));
  net.start(settings_of(1, 2, {0}));
  ASSERT_TRUE(net.until([&] { return zero.begun; }));
  net.send(0, 1, Kind::contribution, 1);
  net.kill(1);
  net.send(0, 1, Kind::contribution, 2);
  EXPECT_TRUE(net.until([&] { return zero.user.was_told("died 1"); }));
  MemoryNet::Process& heir = net.start(settings_of(1, 2, {0}, 2));
  EXPECT_TRUE(net.until([&] { return zero.user.was_told("replaced 1") && heir.begun; }));
  net.send(0, 1, Kind::contribution, 3);
  EXPECT_TRUE(net.until([&] { return heir.user.taken == std::vector<Round>{3}; }));
}

/// The connections of a peer whose machine dies end without a message.
TEST(Conversation, AHalfOpenConnectionIsFoundOutByBothEnds) {
  MemoryNet net;
  MemoryNet::Process& zero = net.start(settings_of(0, 2, {1}));
  MemoryNet::Process& one = net.start(settings_of(1, 2, {0}));
  ASSERT_TRUE(net.until([&] { return zero.begun && one.begun; }));
  const Time before = net.now();
  net.hold(true);
  EXPECT_TRUE(
      net.until([&] { return zero.user.was_told("away 1") && one.user.was_told("away 0"); }));
  EXPECT_LT(net.now() - before, seconds(6));
  net.hold(false);
  EXPECT_TRUE(
      net.until([&] { return zero.user.was_told("back 1") && one.user.was_told("back 0"); }));
}

}  // namespace
}  // namespace gv
