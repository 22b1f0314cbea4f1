#include <gtest/gtest.h>

#include "tests/gossip/one_peer.h"

namespace gv {
namespace {

/// The dead one may have applied its half or not: at this end what is left of the exchange counts
/// no more, and the successor's exchanges begin at 0.
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
  peer->heard_round(1, 10);
  Task<> end = peer->end_round();
  end.start();
  EXPECT_EQ(peer->round, 1U) << "a tenth of the run behind: it does all of its rounds";
  EXPECT_EQ(peer->clock(), 10U);
  peer->heard_round(2, 25);
  Task<> next = peer->end_round();
  next.start();
  world.work();
  EXPECT_EQ(peer->round, 25U);
  EXPECT_EQ(peer->clock(), 25U);
  ASSERT_EQ(journal.reports.size(), 1U) << "rounds 10 and 20 lie on the way";
  EXPECT_EQ(journal.reports[0].round, 20U);
}

/// Found on a fleet of six: a peer cut off for 1.5 s was 2,500 rounds ahead of the others and left
/// long before them.
TEST_F(OnePeer, KeepsItsPaceWhileItsNeighboursMayComeBack) {
  Plan plan = ring_plan();
  plan.catch_up = true;
  plan.keeps_pace = true;
  make(1, plan);
  Task<> join = peer->join();
  join.start();
  const auto round = [&](Time length) {
    Task<> average = begin_average();
    EXPECT_TRUE(average.done());
    world.clock += length;
    Task<> end = peer->end_round();
    end.start();
    world.work();
    return end;
  };
  for (const PeerId from : {1U, 2U}) EXPECT_TRUE(peer->deliver(model(from, 0, 0, filled(1, 1))));
  constexpr Time usual = std::chrono::milliseconds(10);
  EXPECT_TRUE(round(usual).done()) << "in company nobody waits";
  peer->away(1);
  peer->away(2);
  Task<> alone = round(std::chrono::milliseconds(1));
  EXPECT_FALSE(alone.done());
  ASSERT_EQ(world.timers.size(), 1U);
  EXPECT_EQ(world.timers[0].first, usual * 4 / 5 - std::chrono::milliseconds(1));
  world.timers[0].second();
  EXPECT_TRUE(alone.done());
  for (const PeerId from : {1U, 2U})
    EXPECT_TRUE(peer->deliver({from, Kind::goodbye, 1, 0, nullptr}));
  EXPECT_TRUE(round(std::chrono::milliseconds(1)).done()) << "they will not come back";
}

}  // namespace
}  // namespace gv
