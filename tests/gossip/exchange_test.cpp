#include <array>
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "gossip/goodbye.h"
#include "tests/gossip/one_peer.h"

namespace gv {
namespace {

/// A neighbour that is away leaves its exchange open; its half is applied when it is back, against
/// what was sent to it, although x has moved on; and no other exchange begins before.
TEST_F(OnePeer, SettlesLateAgainstWhatItSent) {
  make(1);
  EXPECT_TRUE(peer->deliver(model(1, 0, 0, filled(1, 4))));
  Task<> first = begin_average();
  EXPECT_FALSE(first.done()) << "it waits for peer 2";
  peer->away(2);
  world.work();
  ASSERT_TRUE(first.done());
  EXPECT_FLOAT_EQ(x()[0], 2) << "1 + (4 - 1) / 3";
  EXPECT_EQ(peer->open_exchanges(), 1U);

  ++peer->round;
  world.sent.clear();
  EXPECT_TRUE(peer->deliver(model(1, 1, 0, filled(1, 2))));
  Task<> second = begin_average();
  ASSERT_TRUE(second.done()) << "nobody waits for who is away";
  ASSERT_EQ(world.sent.size(), 1U) << "nothing new for peer 2 while its exchange is open";
  EXPECT_FLOAT_EQ(x()[0], 2);

  peer->back(2);
  EXPECT_TRUE(peer->deliver(model(2, 0, 0, filled(1, 7))));
  ++peer->round;
  world.sent.clear();
  EXPECT_TRUE(peer->deliver(model(1, 2, 0, filled(1, 4))));
  Task<> third = begin_average();
  EXPECT_FALSE(third.done()) << "a new exchange with peer 2 has begun";
  EXPECT_FLOAT_EQ(x()[0], 4) << "2 + (7 - 1) / 3: against the 1 that was sent, not the 2 of now";
  ASSERT_EQ(world.sent.size(), 2U);
  EXPECT_EQ(world.sent[1].second.number, 1U) << "the second exchange with peer 2, in round 2";
  EXPECT_TRUE(peer->deliver(model(2, 1, 0, filled(1, 4))));
  world.work();
  EXPECT_TRUE(third.done());
  EXPECT_EQ(peer->open_exchanges(), 0U);
}

/// Both neighbours leave before their last round, the other one while what was told between us and
/// the first is forgotten. Its last half, an increment, counts on what it had told before.
TEST_F(OnePeer, WhatALeaverSentCountsBeforeItIsForgotten) {
  for (const PeerId first : {1U, 2U})
    for (const std::uint32_t d : {1U, 3U}) {
      SCOPED_TRACE(testing::Message() << "peer " << first << " is first, " << d << " floats");
      const PeerId other = 3 - first;
      world = {};
      Plan plan = ring_plan();
      plan.traffic.running = true;
      make(d, plan);
      EXPECT_TRUE(peer->deliver(model(first, 0, 0, filled(d, 4))));
      EXPECT_TRUE(peer->deliver(model(other, 0, 0, filled(d, 1))));
      ASSERT_TRUE(begin_average().done());
      EXPECT_FLOAT_EQ(x()[d - 1], 2) << "1 + (4 - 1) / 3 + (1 - 1) / 3";
      ++peer->round;
      Task<> second = begin_average();
      for (const PeerId neighbor : {first, other}) peer->away(neighbor);
      world.work();
      ASSERT_TRUE(second.done());
      ++peer->round;

      const auto leaves = [&](PeerId neighbor, float increment) {
        peer->back(neighbor);
        EXPECT_TRUE(peer->deliver(model(neighbor, 1, 0, filled(d, increment))));
        EXPECT_TRUE(peer->deliver({neighbor, Kind::goodbye, 2, leaves_early, nullptr}));
      };
      leaves(first, 0);
      Task<> third = peer->average();
      third.start();
      ASSERT_EQ(world.jobs.size(), 1U) << "its half";
      const auto half = std::move(world.jobs.front());
      world.jobs.pop_front();
      half();
      ASSERT_EQ(world.jobs.size(), 1U) << "it is forgotten";
      leaves(other, 3);
      world.work();
      ASSERT_TRUE(third.done());
      ++peer->round;
      ASSERT_TRUE(begin_average().done());
      EXPECT_FLOAT_EQ(x()[d - 1], 2 + 2.0F / 3 + 2.0F / 3) << "(4 - 2) / 3, and (1 + 3 - 2) / 3";
    }
}

/// Peer 2 is out of step, and may be waiting for our next exchange with it. So peer 1 is waited for
/// as long as its half has taken before, and a moment more. Found so: with a quarter of a second
/// for everybody, a fleet with rounds of a second never got into step again, and with twice the
/// time along a circle each wait was twice the one before.
TEST_F(OnePeer, WaitsAsLongAsUsualWhileAnotherIsOutOfStep) {
  using std::chrono::seconds;
  make(1);
  for (Round r = 0; r < 2; ++r) {
    Task<> average = begin_average();
    world.clock += seconds(3);
    for (const PeerId other : {1U, 2U})
      EXPECT_TRUE(peer->deliver(model(other, r, 0, filled(1, 1))));
    world.work();
    ASSERT_TRUE(average.done());
    ++peer->round;
  }
  EXPECT_TRUE(peer->deliver(model(1, 2, 0, filled(1, 1))));
  Task<> third = begin_average();
  peer->away(2);
  world.work();
  ASSERT_TRUE(third.done());
  ++peer->round;
  peer->back(2);
  world.timers.clear();
  Task<> fourth = begin_average();
  EXPECT_FALSE(fourth.done()) << "it waits for peer 1";
  const Time most = seconds(3) + peer->plan.hurry;
  const auto hurries = [most](const auto& timer) { return timer.first == most; };
  const auto hurry = std::ranges::find_if(world.timers, hurries);
  ASSERT_NE(hurry, world.timers.end());
  hurry->second();
  world.work();
  EXPECT_TRUE(fourth.done());
}

TEST_F(OnePeer, TheLastExchangeIsSettledBeforeTheGoodbye) {
  make(1, 1);
  EXPECT_TRUE(peer->deliver(model(1, 0, 0, filled(1, 1))));
  Task<> average = begin_average();
  peer->away(2);
  world.work();
  ASSERT_TRUE(average.done());
  peer->back(2);
  Task<> finish = peer->finish();
  finish.start();
  world.work();
  EXPECT_FALSE(finish.done()) << "peer 2 owes its half";
  EXPECT_TRUE(peer->deliver(model(2, 0, 0, filled(1, 4))));
  world.work();
  EXPECT_TRUE(finish.done());
  EXPECT_FLOAT_EQ(x()[0], 2);
  for (const auto& [to, message] : world.sent) {
    if (message.kind != Kind::goodbye) continue;
    EXPECT_EQ(message.number, 1U);
  }
}

TEST_F(OnePeer, WeighsAnEdgeByBothEndsDegreesOfTheMoment) {
  Plan plan = ring_plan();
  plan.live_degrees = true;
  make(1, plan);
  peer->away(2);
  Message half = model(1, 0, 0, filled(1, 4));
  half.degree = 3;
  EXPECT_TRUE(peer->deliver(half));
  Task<> first = begin_average();
  ASSERT_TRUE(first.done());
  EXPECT_EQ(world.sent.at(0).second.degree, 1U) << "peer 2 is away";
  EXPECT_FLOAT_EQ(x()[0], 1 + 3.0F / 4) << "1 / (1 + max(1, 3))";
  ASSERT_EQ(journal.settlements.size(), 1U);
  EXPECT_EQ(journal.settlements[0].weight, 0.25F);
  EXPECT_EQ(journal.settlements[0].ours->floats()[0], 1);
  EXPECT_EQ(journal.settlements[0].theirs->floats()[0], 4);
}

TEST_F(OnePeer, ValuesThatAreNotFiniteFlowNowhereAndEndInQuarantine) {
  make(3);
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (Round k = 0; k < 3; ++k) {
    const auto bad = std::make_shared<Buffer>(3 * sizeof(float));
    std::ranges::copy(std::array{nan, 1.0F, INFINITY}, bad->floats().begin());
    EXPECT_TRUE(peer->deliver(model(1, k, 0, bad)));
    EXPECT_TRUE(peer->deliver(model(2, k, 0, filled(3, 1))));
    Task<> average = begin_average();
    ASSERT_TRUE(average.done());
    EXPECT_EQ(x(), (std::vector<float>{1, 1, 1}));
    ++peer->round;
  }
  EXPECT_NE(journal.said.find("(3 of 3)"), std::string::npos) << journal.said;
  world.sent.clear();
  EXPECT_TRUE(peer->deliver(model(2, 3, 0, filled(3, 1))));
  Task<> average = begin_average();
  ASSERT_TRUE(average.done()) << "peer 1 is waited for no more";
  ASSERT_FALSE(world.sent.empty());
  EXPECT_EQ(world.sent[0].second.kind, Kind::goodbye);
  EXPECT_EQ(world.sent[0].second.number, 3U) << "the first exchange that will not be";
}

/// A neighbour whose loop lives and whose trainer is stuck.
TEST_F(OnePeer, WaitsForALivingNeighbourOnlySoLong) {
  make(1);
  EXPECT_TRUE(peer->deliver(model(1, 0, 0, filled(1, 4))));
  Task<> first = begin_average();
  EXPECT_FALSE(first.done());
  ASSERT_EQ(world.timers.size(), 1U);
  EXPECT_EQ(world.timers[0].first, peer->plan.deadline);
  world.clock += peer->plan.deadline;
  world.timers[0].second();
  world.work();
  ASSERT_TRUE(first.done());
  EXPECT_EQ(peer->open_exchanges(), 1U);
  EXPECT_NE(journal.said.find("peer 2 has not sent piece 0 of exchange 0"), std::string::npos);
}

/// Found on a ring of 8 that kept half of its speed after three peers had died and come back.
TEST_F(OnePeer, WaitsForTheRoundOfANeighbourThatIsAhead) {
  Plan plan = ring_plan();
  plan.catch_up = true;
  make(1, plan);
  const auto half = [](PeerId from, Round exchange, Round round) {
    Message m = model(from, exchange, 0, filled(1, 1));
    m.round = round;
    return m;
  };
  const auto receivers = [&] {
    std::vector<PeerId> to;
    for (const auto& [peer, message] : world.sent)
      if (message.kind == Kind::contribution) to.push_back(peer);
    world.sent.clear();
    return to;
  };
  EXPECT_TRUE(peer->deliver(half(1, 0, 2)));
  std::vector<std::vector<PeerId>> told;
  for (Round round = 0; round < 4; ++round) {
    EXPECT_TRUE(peer->deliver(half(2, round, round)));
    if (round == 3) {
      EXPECT_TRUE(peer->deliver(half(1, 1, 3)));
    }
    Task<> average = begin_average();
    EXPECT_TRUE(average.done());
    Task<> end = peer->end_round();
    end.start();
    world.work();
    told.push_back(receivers());
  }
  EXPECT_EQ(told, (std::vector<std::vector<PeerId>>{{1, 2}, {2}, {2}, {1, 2}}));
  EXPECT_EQ(peer->clock(), 4U) << "as its neighbours' in this round";
}

TEST_F(OnePeer, PassesToTheRoundOfItsNeighboursWhenAllAreAhead) {
  Plan plan = ring_plan();
  plan.catch_up = true;
  make(1, plan);
  for (Round exchange = 0; exchange < 2; ++exchange) {
    for (const PeerId from : {1U, 2U}) {
      Message half = model(from, exchange, 0, filled(1, 1));
      half.round = exchange + 2;
      EXPECT_TRUE(peer->deliver(half));
    }
    Task<> average = begin_average();
    EXPECT_TRUE(average.done());
    EXPECT_EQ(world.sent.size(), 2 * (exchange + 1)) << "no round without them";
    Task<> end = peer->end_round();
    end.start();
    world.work();
  }
  EXPECT_EQ(peer->clock(), 4U);
}

}  // namespace
}  // namespace gv
