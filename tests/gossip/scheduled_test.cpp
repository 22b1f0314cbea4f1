#include <gtest/gtest.h>

#include "graph/schedule/one_peer.h"
#include "graph/schedule/periodic_schedule.h"
#include "tests/gossip/one_peer.h"

namespace gv {
namespace {

/// Peer 0 meets peer 1 in even rounds, half and half, and peer 2 in odd ones, a quarter.
class ScheduledPeer : public OnePeer {
 protected:
  void SetUp() override {
    const auto pairs = [](PeerId other, double weight) {
      std::vector<Neighborhood> rows(3);
      rows[0] = pair_row(0, other, weight);
      rows[other] = pair_row(other, 0, weight);
      return MixingMatrix(std::move(rows), false);
    };
    Plan plan;
    plan.peers = 3;
    plan.schedule = std::make_shared<PeriodicSchedule>(
        std::vector<MixingMatrix>{pairs(1, 0.5), pairs(2, 0.25)});
    plan.neighborhood = plan.schedule->links(0);
    plan.rounds = 100;
    plan.catch_up = true;
    make(1, plan);
    Task<> join = peer->join();
    join.start();
  }
  void end_round() {
    Task<> end = peer->end_round();
    end.start();
    world.work();
  }
  static Message half(PeerId from, Round exchange, Round round, float value) {
    Message m = model(from, exchange, 0, filled(1, value));
    m.round = round;
    return m;
  }
};

TEST_F(ScheduledPeer, ExchangesWithWhoStandsInTheRow) {
  EXPECT_TRUE(peer->deliver(half(2, 0, 1, 5))) << "early: peer 2 is a round ahead";
  EXPECT_TRUE(peer->deliver(half(1, 0, 0, 3)));
  Task<> first = begin_average();
  ASSERT_TRUE(first.done());
  ASSERT_EQ(world.sent.size(), 1U);
  EXPECT_EQ(world.sent[0].first, 1U);
  EXPECT_EQ(x()[0], 2) << "1 + (3 - 1) / 2";
  end_round();
  Task<> second = begin_average();
  ASSERT_TRUE(second.done());
  ASSERT_EQ(world.sent.size(), 2U);
  EXPECT_EQ(world.sent[1].first, 2U);
  EXPECT_EQ(world.sent[1].second.number, 0U) << "the first exchange of this edge";
  EXPECT_EQ(world.sent[1].second.round, 1U);
  EXPECT_EQ(x()[0], 2.75F) << "2 + (5 - 2) / 4";
}

/// Peer 1 began an exchange in a round in which it was away here: it is answered in the next one,
/// with the weight of its round.
TEST_F(ScheduledPeer, AnswersWhatBeganWithoutIt) {
  peer->away(1);
  Task<> first = begin_average();
  ASSERT_TRUE(first.done());
  EXPECT_TRUE(world.sent.empty());
  end_round();
  EXPECT_EQ(peer->clock(), 1U) << "peer 2 lives, so the round counts";
  peer->back(1);
  EXPECT_TRUE(peer->deliver(half(1, 0, 0, 3)));
  EXPECT_TRUE(peer->deliver(half(2, 0, 1, 5)));
  Task<> second = begin_average();
  ASSERT_TRUE(second.done());
  EXPECT_EQ(world.sent.size(), 2U);
  ASSERT_EQ(journal.settlements.size(), 2U);
  EXPECT_EQ(journal.settlements[0].weight, 0.5F);
  EXPECT_EQ(journal.settlements[1].weight, 0.25F);
}

/// The other end of the same: its half comes with a later round.
TEST_F(ScheduledPeer, TheEarlierRoundGivesTheWeight) {
  Task<> first = begin_average();
  EXPECT_FALSE(first.done());
  EXPECT_TRUE(peer->deliver(half(1, 0, 1, 3))) << "in round 1, whose row it is not in";
  world.work();
  ASSERT_TRUE(first.done());
  ASSERT_EQ(journal.settlements.size(), 1U);
  EXPECT_EQ(journal.settlements[0].weight, 0.5F);
}

/// Peer 2 needs nobody in round 0: it may complete it before this peer has begun, and that is no
/// reason to take its model. (Real fleets begin within milliseconds, not at once.)
TEST_F(ScheduledPeer, JoinsBehindAsFarAsTheScheduleLeavesIt) {
  for (const Round ahead : {1U, 2U}) {
    make(1, peer->plan);
    world.sent.clear();
    peer->heard_round(2, ahead);
    Task<> join = peer->join();
    join.start();
    EXPECT_EQ(join.done(), ahead == 1);
    EXPECT_EQ(peer->round, 0U);
    EXPECT_EQ(world.sent.size(), ahead == 1 ? 0U : 1U) << "it asks for a model";
  }
}

/// A half of a round that has not begun here is no reason to hurry.
TEST_F(ScheduledPeer, HurriesForNobodyWhoIsAhead) {
  peer->away(1);
  Task<> first = begin_average();
  end_round();
  peer->back(1);
  Task<> second = begin_average();
  EXPECT_FALSE(second.done()) << "it waits for peer 2";
  const std::size_t timers = world.timers.size();
  EXPECT_TRUE(peer->deliver(half(1, 0, 2, 3)));
  EXPECT_EQ(world.timers.size(), timers);
}

/// Peer 1 waits for an answer, and must not do so until peer 2 has come.
TEST_F(ScheduledPeer, HurriesForWhatIsLate) {
  peer->away(1);
  Task<> first = begin_average();
  end_round();
  peer->back(1);
  Task<> second = begin_average();
  const std::size_t timers = world.timers.size();
  EXPECT_TRUE(peer->deliver(half(1, 0, 0, 3)));
  ASSERT_EQ(world.timers.size(), timers + 1);
  EXPECT_EQ(world.timers.back().first, peer->plan.hurry);
  world.timers.back().second();
  world.work();
  EXPECT_TRUE(second.done());
}

/// Peer 1 is behind: their exchange of this round is settled, and it begins the one of a later
/// round of its own, which has passed here.
TEST_F(ScheduledPeer, HurriesForTheNextOneOfWhoIsBehind) {
  for (int k = 0; k < 2; ++k) {
    EXPECT_TRUE(peer->deliver(k == 0 ? half(1, 0, 0, 1) : half(2, 0, 1, 1)));
    Task<> average = begin_average();
    ASSERT_TRUE(average.done());
    end_round();
  }
  EXPECT_TRUE(peer->deliver(half(1, 1, 0, 1)));
  peer->back(2);
  Task<> third = begin_average();
  ASSERT_TRUE(third.done()) << "round 2 is peer 1's, and its half had come";
  end_round();
  Task<> fourth = begin_average();
  EXPECT_FALSE(fourth.done()) << "it waits for peer 2";
  const std::size_t timers = world.timers.size();
  EXPECT_TRUE(peer->deliver(half(1, 2, 2, 1)));
  EXPECT_EQ(world.timers.size(), timers + 1);
}

}  // namespace
}  // namespace gv
