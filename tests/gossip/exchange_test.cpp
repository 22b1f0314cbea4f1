#include <array>
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "gossip/life/presence.h"
#include "tests/gossip/one_peer.h"

namespace gv {
namespace {

/// A neighbour that is away leaves its exchange open. When it is back, its half is applied against
/// the half that was sent to it, although x has moved since; no other exchange begins before.
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

  end_round();
  world.sent.clear();
  EXPECT_TRUE(peer->deliver(model(1, 1, 0, filled(1, 2))));
  Task<> second = begin_average();
  ASSERT_TRUE(second.done()) << "nobody waits for who is away";
  ASSERT_EQ(world.sent.size(), 1U) << "nothing new for peer 2 while its exchange is open";
  EXPECT_FLOAT_EQ(x()[0], 2);

  peer->back(2);
  EXPECT_TRUE(peer->deliver(model(2, 0, 0, filled(1, 7))));
  end_round();
  world.sent.clear();
  EXPECT_TRUE(peer->deliver(model(1, 2, 0, filled(1, 4))));
  Task<> third = begin_average();
  EXPECT_FALSE(third.done()) << "a new exchange with peer 2 has begun";
  EXPECT_FLOAT_EQ(x()[0], 4) << "2 + (7 - 1) / 3: against the 1 that was sent, not the 2 of now";
  ASSERT_EQ(world.sent.size(), 2U);
  EXPECT_EQ(world.sent[1].second.number, 2U) << "the second exchange with peer 2, in round 2";
  EXPECT_TRUE(peer->deliver(model(2, 2, 0, filled(1, 4))));
  world.work();
  EXPECT_TRUE(third.done());
  EXPECT_EQ(peer->open_exchanges(), 0U);
}

/// Both neighbours leave before their last round; the second one leaves while the state shared with
/// the first is being dropped. Its last half, an increment, is added to what it sent before.
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
      end_round();
      Task<> second = begin_average();
      for (const PeerId neighbor : {first, other}) peer->away(neighbor);
      world.work();
      ASSERT_TRUE(second.done());
      end_round();

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
      end_round();
      ASSERT_TRUE(begin_average().done());
      EXPECT_FLOAT_EQ(x()[d - 1], 2 + 2.0F / 3 + 2.0F / 3) << "(4 - 2) / 3, and (1 + 3 - 2) / 3";
    }
}

/// A round also waits for the half of an earlier one, once its sender is reachable again. The
/// deadline ends that wait, and the half gets no second full deadline.
TEST_F(OnePeer, WaitsForOlderHalvesToTheDeadlineOnce) {
  make(1);
  EXPECT_TRUE(peer->deliver(model(1, 0, 0, filled(1, 1))));
  Task<> first = begin_average();
  peer->away(2);
  world.work();
  ASSERT_TRUE(first.done());
  end_round();
  peer->back(2);
  EXPECT_TRUE(peer->deliver(model(1, 1, 0, filled(1, 1))));
  Task<> second = begin_average();
  EXPECT_FALSE(second.done()) << "peer 2 may send its half of round 0, or say that it will not";
  ASSERT_EQ(world.timers.size(), 1U);
  world.clock += peer->plan.deadline;
  world.timers[0].second();
  world.work();
  ASSERT_TRUE(second.done());
  end_round();
  EXPECT_TRUE(peer->deliver(model(1, 2, 0, filled(1, 1))));
  Task<> third = begin_average();
  EXPECT_TRUE(third.done());
}

TEST_F(OnePeer, AHalfThatTheNeighbourHasPassedIsVoid) {
  make(1);
  for (const bool says_beyond : {false, true}) {
    SCOPED_TRACE(says_beyond);
    const Round now = peer->clock();
    EXPECT_TRUE(peer->deliver(model(1, now, 0, filled(1, 1))));
    Task<> average = begin_average();
    EXPECT_FALSE(average.done()) << "it waits for peer 2";
    const Message beyond{2, Kind::beyond, now + 1, 0, nullptr};
    EXPECT_TRUE(peer->deliver(says_beyond ? beyond : model(2, now + 1, 0, filled(1, 7))));
    world.work();
    ASSERT_TRUE(average.done());
    EXPECT_EQ(peer->open_exchanges(), 0U);
    EXPECT_EQ(x()[0], 1) << "nothing of peer 2 counts";
    EXPECT_EQ(peer->exchanges().at(2).value, 0U);
    end_round();
    if (says_beyond) break;
    world.sent.clear();
    EXPECT_TRUE(peer->deliver(model(1, 1, 0, filled(1, 1))));
    Task<> next = begin_average();
    ASSERT_TRUE(next.done()) << "the half of round 1 was here";
    EXPECT_EQ(x()[0], 3);
    for (const PeerId back : {1U, 2U}) EXPECT_TRUE(peer->deliver(model(back, 2, 0, filled(1, 3))));
    end_round();
    Task<> settled = begin_average();
    ASSERT_TRUE(settled.done());
    EXPECT_EQ(x()[0], 3);
    make(1);
  }
}

/// Peer 2 waits for a half of a round that this peer completed without it.
TEST_F(OnePeer, SaysAtOnceThatNoHalfOfItsWillCome) {
  make(1);
  peer->away(2);
  EXPECT_TRUE(peer->deliver(model(1, 0, 0, filled(1, 1))));
  Task<> first = begin_average();
  ASSERT_TRUE(first.done());
  world.sent.clear();
  peer->back(2);
  EXPECT_TRUE(peer->deliver(model(2, 0, 0, filled(1, 1))));
  ASSERT_EQ(world.sent.size(), 1U);
  EXPECT_EQ(world.sent[0].first, 2U);
  EXPECT_EQ(world.sent[0].second.kind, Kind::beyond);
  EXPECT_EQ(world.sent[0].second.number, 1U);
  end_round();
  EXPECT_TRUE(peer->deliver(model(2, 1, 0, filled(1, 1)))) << "of the round that begins next";
  EXPECT_EQ(world.sent.size(), 1U);
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
    end_round();
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

/// A neighbour with a live loop and a stuck trainer.
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
  EXPECT_NE(journal.said.find("peer 2 has not sent piece 0 of round 0"), std::string::npos);
}

TEST_F(OnePeer, WaitsForTheRoundOfANeighbourThatIsAhead) {
  Plan plan = ring_plan();
  plan.catch_up = true;
  make(1, plan);
  const auto receivers = [&] {
    std::vector<PeerId> to;
    for (const auto& [peer, message] : world.sent)
      if (message.kind == Kind::contribution) to.push_back(peer);
    world.sent.clear();
    return to;
  };
  peer->heard_round(1, 2);
  EXPECT_TRUE(peer->deliver(model(1, 2, 0, filled(1, 1))));
  std::vector<std::vector<PeerId>> told;
  for (Round round = 0; round < 4; ++round) {
    EXPECT_TRUE(peer->deliver(model(2, round, 0, filled(1, 1))));
    if (round == 3) {
      EXPECT_TRUE(peer->deliver(model(1, 3, 0, filled(1, 1))));
    }
    Task<> average = begin_average();
    EXPECT_TRUE(average.done());
    end_round();
    told.push_back(receivers());
  }
  EXPECT_EQ(told, (std::vector<std::vector<PeerId>>{{2}, {2}, {1, 2}, {1, 2}}));
  EXPECT_EQ(peer->clock(), 4U) << "as its neighbours' in this round";
}

TEST_F(OnePeer, PassesToTheRoundOfItsNeighboursWhenAllAreAhead) {
  Plan plan = ring_plan();
  plan.catch_up = true;
  make(1, plan);
  for (const PeerId from : {1U, 2U}) {
    peer->heard_round(from, 2 + from);
    EXPECT_TRUE(peer->deliver(model(from, 2 + from, 0, filled(1, 1))));
  }
  Task<> average = begin_average();
  EXPECT_TRUE(average.done());
  ASSERT_EQ(world.sent.size(), 1U) << "peer 2 waits in a later round";
  EXPECT_EQ(world.sent[0].first, 1U);
  EXPECT_EQ(world.sent[0].second.number, 3U);
  end_round();
  EXPECT_EQ(peer->clock(), 4U);
  EXPECT_EQ(peer->round, 4U) << "what it has not done it does not do later, alone";
}

/// A round's number always counts for the edge, but for the clock only as far as it is believed.
TEST_F(OnePeer, AnswersARoundThatIsNotBelievedAndPassesNoneOver) {
  Plan plan = ring_plan();
  plan.catch_up = true;
  make(1, plan);
  for (const PeerId from : {1U, 2U}) EXPECT_TRUE(peer->deliver(model(from, 90, 0, filled(1, 1))));
  Task<> average = begin_average();
  EXPECT_TRUE(average.done());
  end_round();
  ASSERT_EQ(world.sent.size(), 2U);
  for (const auto& [to, message] : world.sent) EXPECT_EQ(message.number, 90U) << to;
  EXPECT_EQ(peer->clock(), 1U) << "a round in company";
  EXPECT_EQ(peer->round, 1U);
}

}  // namespace
}  // namespace gv
