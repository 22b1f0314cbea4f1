#include <gtest/gtest.h>

#include "graph/schedule/schedule.h"
#include "graph/schedule/sequences.h"
#include "tests/gossip/one_peer.h"

namespace gv {
namespace {

/// Peer 0 averages with peer 1 in even rounds, weight 1/2, and with peer 2 in odd ones, 1/4.
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
};

TEST_F(ScheduledPeer, ExchangesWithWhoStandsInTheRow) {
  EXPECT_TRUE(peer->deliver(model(2, 1, 0, filled(1, 5)))) << "early: peer 2 is a round ahead";
  EXPECT_TRUE(peer->deliver(model(1, 0, 0, filled(1, 3))));
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
  EXPECT_EQ(world.sent[1].second.number, 1U);
  EXPECT_EQ(x()[0], 2.75F) << "2 + (5 - 2) / 4";
}

/// Peer 1 sends a half of a round in which peer 0 counted it as away: peer 0 answers `beyond`.
TEST_F(ScheduledPeer, SaysThatItHasPassedARound) {
  peer->away(1);
  Task<> first = begin_average();
  ASSERT_TRUE(first.done());
  EXPECT_TRUE(world.sent.empty());
  end_round();
  EXPECT_EQ(peer->clock(), 1U) << "peer 2 lives, so the round counts";
  peer->back(1);
  EXPECT_TRUE(peer->deliver(model(1, 0, 0, filled(1, 3))));
  ASSERT_EQ(world.sent.size(), 1U);
  EXPECT_EQ(world.sent[0].second.kind, Kind::beyond);
  EXPECT_EQ(world.sent[0].second.number, 1U);
  EXPECT_TRUE(peer->deliver(model(2, 1, 0, filled(1, 5))));
  Task<> second = begin_average();
  ASSERT_TRUE(second.done());
  ASSERT_EQ(journal.settlements.size(), 1U);
  EXPECT_EQ(journal.settlements[0].weight, 0.25F);
}

/// Peer 2 needs no peer in round 0, and may complete it before this peer has begun: no reason to
/// take its model. (Real fleets begin within milliseconds, not at once.)
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

/// A half that arrives before its round begins here is kept.
TEST_F(ScheduledPeer, KeepsWhatIsAhead) {
  EXPECT_TRUE(peer->deliver(model(1, 2, 0, filled(1, 3))));
  Task<> first = begin_average();
  ASSERT_TRUE(first.done()) << "peer 1 has passed round 0";
  end_round();
  EXPECT_TRUE(peer->deliver(model(2, 1, 0, filled(1, 1))));
  Task<> second = begin_average();
  ASSERT_TRUE(second.done());
  end_round();
  Task<> third = begin_average();
  ASSERT_TRUE(third.done());
  ASSERT_EQ(journal.settlements.size(), 2U);
  EXPECT_EQ(journal.settlements[1].weight, 0.5F);
  EXPECT_EQ(x()[0], 2);
}

}  // namespace
}  // namespace gv
