#include <chrono>
#include <map>

#include <gtest/gtest.h>

#include "tests/gossip/one_peer.h"

namespace gv {
namespace {

using std::chrono::hours;
using std::chrono::seconds;

/// A StillWorld with a clock and working timers.
class ClockedWorld : public StillWorld {
 public:
  void after(Time delay, std::function<void()> f) override {
    due_.emplace(clock + delay, std::move(f));
  }
  void pass(Time time) {
    const Time until = clock + time;
    while (!due_.empty() && due_.begin()->first <= until) {
      auto next = due_.extract(due_.begin());
      clock = next.key();
      next.mapped()();
      work();
    }
    clock = until;
  }

 private:
  std::multimap<Time, std::function<void()>> due_;
};

/// Peer 0 of a ring of three has done its rounds. Peer 1 has left; peer 2 is in a round in which it
/// has not sent its half yet.
class Finished : public OnePeer {
 protected:
  /// `links`: partners of its collective operations; `evaluates`: time between evaluations.
  explicit Finished(std::vector<PeerId> links = {}, Time evaluates = Time{0}) {
    Plan plan = ring_plan();
    plan.links = std::move(links);
    plan.deadline = seconds(1);
    plan.standstill = seconds(10);
    plan.rounds = 1;
    plan.evaluate_period = evaluates;
    replica = ones(1);
    peer = std::make_unique<Peer>(plan, clocked, journal, *replica);
    join = peer->join();
    join.start();
    clocked.work();
    EXPECT_TRUE(peer->deliver(model(1, 0, 0, filled(1, 1))));
    average = peer->average();
    average.start();
    clocked.work();
    clocked.pass(seconds(2));
    EXPECT_TRUE(average.done()) << "the deadline has ended the wait";
    ++peer->round;
    finish = peer->finish();
    finish.start();
    clocked.work();
  }
  /// Peer 2 reports that it computes, during this time.
  void compute(Time time) {
    for (Time past{0}; past < time; past += seconds(1)) {
      peer->heard_work(2);
      clocked.pass(seconds(1));
    }
  }
  std::vector<std::uint64_t> goodbyes_to(PeerId neighbor) const {
    std::vector<std::uint64_t> numbers;
    for (const auto& [to, message] : clocked.sent)
      if (to == neighbor && message.kind == Kind::goodbye) numbers.push_back(message.number);
    return numbers;
  }
  EdgeEnd last_edge() const {
    for (const EdgeEnd& edge : journal.reports.back().edges)
      if (edge.with == 2) return edge;
    return {};
  }

  ClockedWorld clocked;
  Task<> join, average, finish;
};

class FinishedByTime : public Finished, public testing::WithParamInterface<Time> {
 protected:
  FinishedByTime() : Finished({}, GetParam()) {}
};

/// Found by the swarm: peers that waited an hour for a liar's half evaluated every 20 ms, and the
/// run seemed to stand still.
TEST_P(FinishedByTime, EvaluatesNoMoreWhileItWaits) {
  const std::size_t before = journal.reports.size();
  EXPECT_GT(before, 0U) << "in its round it does";
  compute(seconds(100));
  ASSERT_FALSE(finish.done());
  EXPECT_EQ(journal.reports.size(), before);
}

INSTANTIATE_TEST_SUITE_P(Periods,
                         FinishedByTime,
                         testing::Values(std::chrono::milliseconds(20),
                                         std::chrono::milliseconds(300),
                                         seconds(1)));

class FinishedInARing : public Finished {
 protected:
  FinishedInARing() : Finished({1, 2}) {}
};

/// A fleet of gossip-pga once waited forever after a death: a peer that knew of the death waited
/// for a neighbour's half, and this neighbour waited for the dead peer in the mean of all models.
TEST_F(FinishedInARing, SaysGoodbyeToWhoMayWaitInACollectiveBeforeItIsOwedNothing) {
  EXPECT_FALSE(finish.done());
  EXPECT_EQ(goodbyes_to(2), std::vector<std::uint64_t>{1}) << "exchange 0 is still to be settled";
  EXPECT_TRUE(peer->deliver(model(2, 0, 0, filled(1, 4))));
  clocked.work();
  EXPECT_TRUE(finish.done());
  EXPECT_EQ(journal.settlements.size(), 2U);
  EXPECT_EQ(goodbyes_to(2), (std::vector<std::uint64_t>{1, 1})) << "it stayed for that half";
}

TEST_F(FinishedInARing, ItsNeighbourMayLeaveBeforeThatExchangeToo) {
  peer->deliver({2, Kind::goodbye, 0, 0, nullptr});
  clocked.work();
  EXPECT_TRUE(finish.done());
  EXPECT_EQ(journal.settlements.size(), 1U) << "it counts at neither end";
}

TEST_F(Finished, SaysGoodbyeToWhoOwesItAHalfOnlyAfterThat) {
  EXPECT_EQ(goodbyes_to(2), std::vector<std::uint64_t>{});
  EXPECT_TRUE(peer->deliver(model(2, 0, 0, filled(1, 4))));
  clocked.work();
  EXPECT_EQ(goodbyes_to(2), std::vector<std::uint64_t>{1});
}

/// A neighbour that computed was once given up after ten deadlines; its flow counted at one end.
TEST_F(Finished, WaitsForANeighbourThatComputesHoweverLongItsRoundTakes) {
  compute(seconds(1500));
  ASSERT_FALSE(finish.done());
  EXPECT_TRUE(peer->deliver(model(2, 0, 0, filled(1, 4))));
  clocked.work();
  ASSERT_TRUE(finish.done());
  EXPECT_EQ(journal.settlements.size(), 2U);
  EXPECT_EQ(last_edge().exchange.value, 1U);
  EXPECT_EQ(journal.said.find("no longer waiting for"), std::string::npos) << journal.said;
}

TEST_F(Finished, GivesUpANeighbourThatDoesNothingAndSaysWhatItLeavesOpen) {
  compute(seconds(30));
  ASSERT_FALSE(finish.done());
  clocked.pass(seconds(21));
  ASSERT_TRUE(finish.done());
  EXPECT_NE(journal.said.find("no longer waiting for peer 2, which owes half of exchange 0: that "
                              "exchange may count only at its end"),
            std::string::npos)
      << journal.said;
  EXPECT_EQ(last_edge().exchange.value, 0U);
  EXPECT_EQ(last_edge().pieces, 0U);
}

/// A lying member may claim forever that it computes.
TEST_F(Finished, DoesNotBelieveForEverThatANeighbourComputes) {
  compute(hours(1) + seconds(11));
  EXPECT_TRUE(finish.done());
}

TEST_F(Finished, ANewRoundIsAsGoodAsWork) {
  for (Round round = 1; round <= 20; ++round) {
    peer->heard_round(2, round);
    clocked.pass(seconds(9));
    ASSERT_FALSE(finish.done()) << round;
  }
  clocked.pass(seconds(21));
  EXPECT_TRUE(finish.done());
}

/// The neighbour waits for samples, or in a collective, and repeats this report.
TEST_F(Finished, AWaitThatIsToldIsAsGoodAsWork) {
  for (int k = 0; k < 200; ++k) {
    EXPECT_TRUE(peer->deliver({2, Kind::held_up, 1, 1, nullptr}));
    clocked.pass(seconds(9));
    ASSERT_FALSE(finish.done()) << k;
  }
  clocked.pass(seconds(21));
  EXPECT_TRUE(finish.done());
}

/// At the end a peer waits for an absent one only for a while, and reports the open exchange.
TEST_F(Finished, SaysWhatIsLeftOpenWithWhoIsAway) {
  peer->away(2);
  clocked.pass(seconds(4));
  ASSERT_TRUE(finish.done());
  EXPECT_NE(journal.said.find("no longer waiting for"), std::string::npos) << journal.said;
}

/// A dead peer's half is gone: no edge between two living peers is uneven.
TEST_F(Finished, SaysNothingOfTheDead) {
  peer->away(2);
  peer->died(2);
  clocked.pass(seconds(4));
  ASSERT_TRUE(finish.done());
  EXPECT_EQ(journal.said.find("no longer waiting for"), std::string::npos) << journal.said;
}

/// The conversation starts over with a successor: the positions of the two ends prove nothing.
TEST_F(Finished, TellsOfNoEdgeWhoseOtherEndHasASuccessor) {
  peer->replaced(2);
  clocked.pass(seconds(30));
  ASSERT_TRUE(finish.done());
  ASSERT_EQ(journal.reports.back().edges.size(), 1U);
  EXPECT_EQ(journal.reports.back().edges[0].with, 1U);
}

}  // namespace
}  // namespace gv
