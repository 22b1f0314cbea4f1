#include "gossip/mail/post.h"

#include <gtest/gtest.h>

#include "tests/gossip/one_peer.h"

namespace gv {
namespace {

using std::chrono::seconds;
using Why = event::CollectiveBroken::Why;

/// Peer 0 waits for a message of peer 1 on a channel, as a collective does.
class Collective : public OnePeer {
 protected:
  void SetUp() override {
    Plan plan = ring_plan();
    plan.deadline = seconds(30);
    plan.channels = {
        {Kind::reduce, 4, [](PeerId, std::uint32_t, std::size_t bytes) { return bytes == 4; }, 2}};
    make(1, plan);
  }
  Task<> wait_for_peer_1() { answer_ = co_await peer->receive(1, Kind::reduce); }
  /// Waits for a message that only peer 1 can send, as for a server.
  Task<> wait_for_anybody() {
    Next next = co_await peer->next(Kind::reduce, Time{0}, [](PeerId i) { return i == 1; });
    answer_ = std::move(next.message);
  }
  static Message part(PeerId from, std::uint64_t number) {
    return {from, Kind::reduce, number, 0, filled(1, 5)};
  }
  /// `by`: end of its chain of waits.
  static Message held_up(PeerId from, std::uint64_t by) {
    return {from, Kind::held_up, by, 1, nullptr};
  }
  std::uint64_t absence() const { return peer->plan.peers; }
  static Message free(PeerId from) { return {from, Kind::held_up, 0, 0, nullptr}; }
  /// Moves the clock to the newest timer, which then fires.
  void next_timer() {
    const auto [delay, f] = world.timers.back();
    world.clock += delay;
    f();
  }
  std::vector<Why> reasons() const {
    std::vector<Why> reasons;
    for (const PeerEvent& event : journal.events)
      if (const auto* broken = std::get_if<event::CollectiveBroken>(&event))
        reasons.push_back(broken->why);
    return reasons;
  }
  std::size_t told(std::uint32_t waits) const {
    return static_cast<std::size_t>(std::ranges::count_if(world.sent, [&](const auto& sent) {
      return sent.second.kind == Kind::held_up && sent.second.part == waits;
    }));
  }

  std::optional<Message> answer_;
};

TEST_F(Collective, WaitsForWhoIsAwayUntilItIsBack) {
  Task<> wait = wait_for_peer_1();
  wait.start();
  peer->away(1);
  EXPECT_FALSE(wait.done());
  for (int k = 0; k < 10; ++k) next_timer();
  EXPECT_FALSE(wait.done()) << "the time of its absence does not count against it";
  peer->back(1);
  EXPECT_TRUE(peer->deliver(part(1, 0)));
  ASSERT_TRUE(wait.done());
  EXPECT_TRUE(answer_.has_value());
  EXPECT_TRUE(reasons().empty());
}

TEST_F(Collective, EndsWhenANeighbourDiesAndSaysWhich) {
  Task<> wait = wait_for_peer_1();
  wait.start();
  peer->away(1);
  peer->died(1);
  ASSERT_TRUE(wait.done());
  EXPECT_FALSE(answer_.has_value());
  EXPECT_EQ(reasons(), std::vector<Why>{Why::died});
  EXPECT_NE(journal.said.find("peer 1 has died"), std::string::npos) << journal.said;
}

TEST_F(Collective, EndsWhenANeighbourHasLeftButCountsWhatItSentBefore) {
  EXPECT_TRUE(peer->deliver(part(1, 0)));
  EXPECT_TRUE(peer->deliver({1, Kind::goodbye, 7, 0, nullptr}));
  Task<> first = wait_for_peer_1();
  first.start();
  ASSERT_TRUE(first.done());
  EXPECT_TRUE(answer_.has_value());
  ++peer->round;
  Task<> second = wait_for_peer_1();
  second.start();
  ASSERT_TRUE(second.done()) << "a goodbye closes a channel at once, whatever its number";
  EXPECT_EQ(reasons(), std::vector<Why>{Why::left});
}

/// A chain of peers named each its neighbour, and a user had to look for the first in all logs.
TEST_F(Collective, NamesThePeerThatANeighbourMissedAndPassesItOn) {
  const auto missed = [](PeerId id) { return leaves_early | (id + 1) << 4; };  // it has died
  Task<> wait = wait_for_peer_1();
  wait.start();
  EXPECT_TRUE(peer->deliver({1, Kind::goodbye, 7, missed(2), nullptr}));
  ASSERT_TRUE(wait.done());
  EXPECT_EQ(reasons(), std::vector<Why>{Why::died});
  EXPECT_NE(journal.said.find("peer 2 has died"), std::string::npos) << journal.said;
  Task<> finish = peer->finish();
  finish.start();
  world.work();
  const auto says_so = [&](const auto& sent) {
    return sent.second.kind == Kind::goodbye && sent.second.part == missed(2);
  };
  EXPECT_EQ(std::ranges::count_if(world.sent, says_so), 2);
}

TEST_F(Collective, BlamesANeighbourItselfThatNamesAnImpossiblePeer) {
  for (const PeerId named : {0U, 1U, 3U, 1U << 27}) {
    SetUp();
    EXPECT_TRUE(peer->deliver({1, Kind::goodbye, 7, leaves_early | (named + 1) << 4, nullptr}));
    Task<> wait = wait_for_peer_1();
    wait.start();
    ASSERT_TRUE(wait.done());
    EXPECT_EQ(reasons().back(), Why::left) << named;
    EXPECT_NE(journal.said.find("peer 1 has left"), std::string::npos) << journal.said;
  }
}

TEST_F(Collective, EndsAtTheDeadlineOfWhoLivesAndDoesNotGetOn) {
  Task<> wait = wait_for_peer_1();
  wait.start();
  next_timer();
  EXPECT_FALSE(wait.done());
  EXPECT_EQ(told(1), 2U) << "half of the time has passed: whoever waits for us is told";
  next_timer();
  ASSERT_TRUE(wait.done());
  EXPECT_EQ(reasons(), std::vector<Why>{Why::stuck});
  EXPECT_EQ(told(0), 2U);
  EXPECT_EQ(world.clock, seconds(30));
}

TEST_F(Collective, DoesNotCountTheTimeInWhichTheOtherWaitsItself) {
  Task<> wait = wait_for_peer_1();
  wait.start();
  EXPECT_TRUE(peer->deliver(held_up(1, 2)));
  for (int k = 0; k < 10; ++k) next_timer();
  EXPECT_FALSE(wait.done());
  EXPECT_TRUE(peer->deliver(free(1)));
  for (int k = 0; k < 3 && !wait.done(); ++k) next_timer();
  ASSERT_TRUE(wait.done()) << "it gets on, it says, and is stuck";
  EXPECT_EQ(reasons(), std::vector<Why>{Why::stuck});
}

/// After a refused message two peers may wait for each other, and both report a wait.
TEST_F(Collective, EndsWhereTheOtherWaitsForUs) {
  for (const PeerId by : {0U, 1U}) {
    SCOPED_TRACE(by);
    SetUp();
    journal.events.clear();
    Task<> wait = wait_for_peer_1();
    wait.start();
    EXPECT_TRUE(peer->deliver(held_up(1, by)));
    next_timer();
    EXPECT_FALSE(wait.done());
    next_timer();
    ASSERT_TRUE(wait.done());
    EXPECT_EQ(reasons(), std::vector<Why>{Why::stuck});
  }
}

/// In a chain of three peers the last one gives up a stuck peer after a deadline, the one before it
/// after another one; and a chain may grow while it lasts.
TEST_F(Collective, BelievesNoChainThatLastsLongerThanTwoDeadlinesForEachPeer) {
  Task<> wait = wait_for_peer_1();
  wait.start();
  while (!wait.done() && world.clock < seconds(300)) {
    EXPECT_TRUE(peer->deliver(held_up(1, 2)));
    next_timer();
  }
  ASSERT_TRUE(wait.done());
  EXPECT_GE(world.clock, seconds(180));
  EXPECT_LE(world.clock, seconds(225));
  EXPECT_EQ(reasons(), std::vector<Why>{Why::stuck});
}

TEST_F(Collective, PassesOnWhoIsAtTheEndOfItsChain) {
  Task<> wait = wait_for_peer_1();
  wait.start();
  next_timer();
  ASSERT_EQ(told(1), 2U);
  EXPECT_EQ(world.sent.back().second.number, 1U);
  EXPECT_TRUE(peer->deliver(held_up(1, 2)));
  ASSERT_EQ(told(1), 4U) << "it has changed";
  EXPECT_EQ(world.sent.back().second.number, 2U);
  EXPECT_TRUE(peer->deliver(held_up(1, 2)));
  EXPECT_EQ(told(1), 4U) << "it has not";
  EXPECT_TRUE(peer->deliver(held_up(1, absence())));
  ASSERT_EQ(told(1), 6U);
  EXPECT_EQ(world.sent.back().second.number, absence() + 1);
}

/// A peer that has done its rounds, and to which we owe a half, waits while it gets this report.
TEST_F(Collective, TellsAgainThatItWaits) {
  Task<> wait = wait_for_peer_1();
  wait.start();
  EXPECT_TRUE(peer->deliver(held_up(1, 2)));
  next_timer();
  ASSERT_EQ(told(1), 2U);
  for (std::size_t k = 2; k < 5; ++k) {
    next_timer();
    EXPECT_EQ(told(1), 2 * k);
    EXPECT_EQ(world.sent.back().second.number, 2U);
  }
  EXPECT_EQ(told(0), 0U);
}

/// Found by trying: after a partition five peers sent each other 1.6 million reports of changing
/// ends in 15 seconds, limited only by the network, until a queue was full and a peer given up.
TEST_F(Collective, TellsOfChangesNoFasterThanItMay) {
  Task<> wait = wait_for_peer_1();
  wait.start();
  next_timer();
  const std::size_t before = told(1);
  for (int k = 0; k < 1000; ++k) EXPECT_TRUE(peer->deliver(held_up(1, k % 2 == 0 ? 2 : absence())));
  const std::size_t at_once = told(1) - before;
  EXPECT_GE(at_once, 4U);
  EXPECT_LE(at_once, 2 * (absence() + 1));
  EXPECT_NE(world.sent.back().second.number, absence() + 1);
  next_timer();
  EXPECT_EQ(told(1) - before, at_once + 2) << "the last of it, when it may";
  EXPECT_EQ(world.sent.back().second.number, absence() + 1);
}

/// A report to an absent peer would be queued, and be outdated when it arrives.
TEST_F(Collective, TellsWhoIsAwayWhenItIsBack) {
  peer->away(2);
  Task<> wait = wait_for_peer_1();
  wait.start();
  next_timer();
  EXPECT_EQ(told(1), 1U);
  EXPECT_TRUE(peer->deliver(held_up(1, 2)));
  EXPECT_EQ(told(1), 2U);
  EXPECT_EQ(world.sent.back().first, 1U);
  peer->back(2);
  EXPECT_EQ(told(1), 3U);
  EXPECT_EQ(world.sent.back().first, 2U);
  EXPECT_EQ(world.sent.back().second.number, 2U);
}

/// A distant broken link may be between us and the end of a chain that leads to us.
TEST_F(Collective, WaitsForWhoIsHeldUpByAnAbsenceForAsLongAsItIsTold) {
  Task<> wait = wait_for_peer_1();
  wait.start();
  while (!wait.done() && world.clock < seconds(2000)) {
    EXPECT_TRUE(peer->deliver(held_up(1, absence())));
    next_timer();
  }
  EXPECT_FALSE(wait.done());
}

/// Found by trying: one false report of a member blocked an all-reduce forever.
TEST_F(Collective, BelievesOneWordOfAnAbsenceForTwoDeadlinesOfEachPeer) {
  for (std::uint64_t links = 0; links < 3; ++links) {
    SCOPED_TRACE(links);
    SetUp();
    world.clock = Time{0};
    journal.events.clear();
    Task<> wait = wait_for_peer_1();
    wait.start();
    EXPECT_TRUE(peer->deliver(held_up(1, absence() + links)));
    while (!wait.done() && world.clock < seconds(2000)) next_timer();
    ASSERT_TRUE(wait.done());
    EXPECT_GE(world.clock, seconds(180));
    EXPECT_LE(world.clock, seconds(225));
    EXPECT_EQ(reasons(), std::vector<Why>{Why::stuck});
  }
}

/// A peer that is excused because of an absence repeats the report, in every kind of wait, also to
/// peers with which it does not average.
TEST_F(Collective, TellsAgainOfAnAbsenceThatLasts) {
  for (const bool for_anybody : {false, true}) {
    SCOPED_TRACE(for_anybody);
    Plan plan = peer->plan;
    plan.neighborhood = {.self = 1, .peers = {}, .weights = {}, .receivers = {}};
    plan.links = {1, 2};
    plan.channels[0].keeps = for_anybody ? Keeps::queue : Keeps::numbered;
    make(1, plan);
    world.sent.clear();
    peer->away(1);
    Task<> wait = for_anybody ? wait_for_anybody() : wait_for_peer_1();
    wait.start();
    for (std::size_t k = 1; k < 10; ++k) {
      next_timer();
      EXPECT_EQ(told(1), k);
      EXPECT_EQ(world.sent.back().first, 2U);
      EXPECT_EQ(world.sent.back().second.number, absence());
    }
    EXPECT_FALSE(wait.done());
  }
}

/// An old report of an absence could circulate forever among waiting peers.
TEST_F(Collective, BelievesNoAbsenceBeyondMoreLinksThanThereArePeers) {
  Task<> wait = wait_for_peer_1();
  wait.start();
  next_timer();
  EXPECT_TRUE(peer->deliver(held_up(1, 2 * absence() - 1)));
  EXPECT_EQ(world.sent.back().second.number, 1U) << "passed on as a wait for peer 1";
  EXPECT_FALSE(peer->deliver(held_up(1, 2 * absence())));
}

/// After a standstill, a process finds its timers due before it reads the messages that came.
TEST_F(Collective, GrantsTheLagOfItsOwnLoop) {
  Task<> wait = wait_for_peer_1();
  wait.start();
  world.clock += seconds(300);
  world.timers.back().second();
  EXPECT_FALSE(wait.done());
}

TEST_F(Collective, ThatIsToStopWaitsForNobodyWhoIsAway) {
  Task<> wait = wait_for_peer_1();
  wait.start();
  peer->away(1);
  peer->stop();
  EXPECT_TRUE(wait.done());
  EXPECT_TRUE(reasons().empty()) << "that is no misfortune";
}

TEST_F(Collective, BelievesNoMessageOnItsChannel) {
  EXPECT_FALSE(peer->deliver({1, Kind::reduce, 0, 0, filled(2, 5)})) << "too long";
  EXPECT_FALSE(peer->deliver({1, Kind::gather, 0, 0, filled(1, 5)})) << "no such channel";
  EXPECT_FALSE(peer->deliver(held_up(1, 1000))) << "there is no such peer";
  EXPECT_FALSE(peer->deliver({1, Kind::held_up, 0, 2, nullptr}));
  EXPECT_FALSE(peer->deliver({1, Kind::held_up, 2, 0, nullptr}));
  EXPECT_TRUE(peer->deliver(part(1, 3)));
  EXPECT_FALSE(peer->deliver(part(1, 3))) << "twice";
  EXPECT_TRUE(peer->deliver(part(1, 4)));
  EXPECT_FALSE(peer->deliver(part(1, 5))) << "more than may wait";
}

TEST_F(Collective, LetsGoOfWhatIsBelowTheNumberThatItAsksFor) {
  EXPECT_TRUE(peer->deliver(part(1, 0)));
  EXPECT_TRUE(peer->deliver(part(1, 1)));
  peer->round = 2;
  Task<> wait = wait_for_peer_1();
  wait.start();
  EXPECT_TRUE(peer->deliver(part(1, 0))) << "nobody's: taken and dropped";
  EXPECT_FALSE(wait.done());
  EXPECT_TRUE(peer->deliver(part(1, 2)));
  EXPECT_TRUE(wait.done());
}

}  // namespace
}  // namespace gv
