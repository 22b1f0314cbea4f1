#include <gtest/gtest.h>

#include "gossip/life/presence.h"
#include "tests/gossip/one_peer.h"

namespace gv {
namespace {

/// The dead process may or may not have applied its half: this end drops the rest of the exchange,
/// and the successor's exchanges begin at 0.
TEST_F(OnePeer, ASuccessorBeginsAnew) {
  make(piece_floats + 1);
  EXPECT_TRUE(peer->deliver(model(1, 0, 0, filled(piece_floats, 1))));
  EXPECT_TRUE(peer->deliver(model(1, 0, 1, filled(1, 1))));
  EXPECT_TRUE(peer->deliver(model(2, 0, 0, filled(piece_floats, 4))));
  Task<> first = begin_average();
  EXPECT_FALSE(first.done()) << "the second piece of peer 2 is missing";
  peer->replaced(2);
  world.work();
  ASSERT_TRUE(first.done());
  EXPECT_EQ(peer->open_exchanges(), 0U);
  EXPECT_FLOAT_EQ(x().front(), 2) << "what counted before stays";
  EXPECT_EQ(peer->exchanges(), (std::map<PeerId, ExchangeNumber>{{1, {1}}, {2, {0}}}));
  EXPECT_TRUE(peer->deliver(model(2, 0, 0, filled(piece_floats, 4)))) << "exchange 0 again";
}

TEST_F(OnePeer, GivesItsModelToWhoAsks) {
  make(piece_floats + 1);
  Task<> join = peer->join();
  join.start();
  EXPECT_TRUE(peer->deliver({2, Kind::fetch, 0, 0, nullptr}));
  world.work();
  ASSERT_EQ(world.sent.size(), 2U);
  for (std::uint32_t part = 0; part < 2; ++part) {
    EXPECT_EQ(world.sent[part].first, 2U);
    EXPECT_EQ(world.sent[part].second.kind, Kind::model_copy);
    EXPECT_EQ(world.sent[part].second.part, part);
    EXPECT_EQ(world.sent[part].second.payload->floats()[0], 1);
  }
}

TEST_F(OnePeer, TakesAModelFromTheFirstNeighbourThatHasOne) {
  Plan plan = ring_plan();
  plan.fetch = true;
  plan.catch_up = true;
  make(1, plan);
  Task<> join = peer->join();
  join.start();
  EXPECT_TRUE(peer->deliver({2, Kind::fetch, 0, 0, nullptr}));
  world.work();
  ASSERT_EQ(world.sent.size(), 2U);
  EXPECT_EQ(world.sent[0].first, 1U);
  EXPECT_EQ(world.sent[0].second.kind, Kind::fetch);
  EXPECT_EQ(world.sent[1].second.payload, nullptr) << "it has none to give itself";
  EXPECT_TRUE(peer->deliver({1, Kind::model_copy, 0, 0, nullptr}));
  EXPECT_EQ(world.sent.at(2).first, 2U) << "now the next one is asked";
  peer->heard_round(2, 17);
  EXPECT_TRUE(peer->deliver({2, Kind::model_copy, 0, 0, filled(1, 9)}));
  world.work();
  ASSERT_TRUE(join.done());
  EXPECT_EQ(x()[0], 9);
  EXPECT_EQ(peer->round, 17U) << "it goes on in their round";
}

TEST_F(OnePeer, GoesOnInTheRoundOfItsNeighbours) {
  Plan plan = ring_plan();
  plan.catch_up = true;
  plan.evaluate_every = 10;
  make(1, plan);
  peer->heard_round(1, 3);
  end_round();
  EXPECT_EQ(peer->round, 1U) << "three rounds may lie between two peers of three";
  peer->heard_round(2, 25);
  end_round();
  EXPECT_EQ(peer->round, 25U);
  EXPECT_EQ(peer->clock(), 25U);
  ASSERT_EQ(journal.reports.size(), 1U) << "rounds 10 and 20 lie on the way";
  EXPECT_EQ(journal.reports[0].round, 20U);
}

class Alone : public OnePeer {
 protected:
  void SetUp() override {
    Plan plan = ring_plan();
    plan.catch_up = plan.keeps_pace = plan.ends_with_others = true;
    make(1, plan);
    Task<> join = peer->join();
    join.start();
  }
  /// Runs a round that takes `length` until it rests.
  Task<> round(Time length) {
    Task<> average = begin_average();
    EXPECT_TRUE(average.done());
    world.clock += length;
    Task<> end = peer->end_round();
    end.start();
    world.work();
    return end;
  }
  void in_company(Time length) {
    for (const PeerId from : {1U, 2U})
      EXPECT_TRUE(peer->deliver(model(from, peer->clock(), 0, filled(1, 1))));
    EXPECT_TRUE(round(length).done()) << "in company nobody rests";
  }
  void leave_alone() {
    peer->away(1);
    peer->away(2);
    world.timers.clear();
  }
};

/// Found on a fleet of six: a peer cut off for 1.5 s was 2,500 rounds ahead of the others and left
/// long before them.
TEST_F(Alone, TakesAsLongAsRoundsInCompanyUsuallyDo) {
  using std::chrono::milliseconds;
  for (int k = 0; k < 7; ++k)  // a burst: both halves of a pair arrive together
    for (const int length : {19, 1}) in_company(milliseconds(length));
  in_company(milliseconds(10));
  leave_alone();
  Task<> alone = round(milliseconds(1));
  EXPECT_FALSE(alone.done());
  ASSERT_EQ(world.timers.size(), 1U);
  EXPECT_EQ(world.timers[0].first, milliseconds(9)) << "the mean, less what it took";
  world.timers[0].second();
  EXPECT_TRUE(alone.done());
  EXPECT_EQ(peer->clock(), 15U) << "rounds alone do not move the clock";
  EXPECT_EQ(peer->round, 16U);
}

/// There are too few rounds for a mean yet; a tenth of the deadline is long enough.
TEST_F(Alone, TakesATenthOfTheDeadlineWhileNothingIsUsual) {
  in_company(Time{1});
  in_company(Time{1});
  leave_alone();
  const Task<> alone = round(Time{1});
  EXPECT_FALSE(alone.done());
  ASSERT_EQ(world.timers.size(), 1U);
  EXPECT_EQ(world.timers[0].first, peer->plan.deadline / 10 - Time{1});
}

TEST_F(Alone, AHalfThatItCanAnswerEndsItsRest) {
  leave_alone();
  const Task<> alone = round(Time{1});
  EXPECT_FALSE(alone.done());
  peer->back(1);
  EXPECT_FALSE(alone.done());
  EXPECT_TRUE(peer->deliver(model(1, 0, 0, filled(1, 4))));
  EXPECT_TRUE(alone.done());
}

/// A peer that lags would otherwise train alone, and that model would be saved.
TEST_F(Alone, EndsWithTheOthers) {
  in_company(Time{1});
  EXPECT_TRUE(peer->deliver({1, Kind::goodbye, 1, leaves_early, nullptr}));
  EXPECT_TRUE(peer->deliver(model(2, 1, 0, filled(1, 1))));
  const Task<> behind = round(Time{1});
  EXPECT_TRUE(peer->running()) << "peer 1 has not done all of its rounds, peer 2 is there";
  peer->heard_round(2, 3);
  EXPECT_TRUE(peer->deliver({2, Kind::goodbye, 2, 0, nullptr}));
  const Task<> last = round(Time{1});
  EXPECT_FALSE(peer->running());
  EXPECT_EQ(peer->round, 100U);
}

}  // namespace
}  // namespace gv
