#include "gossip/link/link.h"
#include "tests/gossip/link/one_link.h"

namespace gv {
namespace {

using std::chrono::seconds;

constexpr Round lie = Round{1} << 62;

TEST(ClockBound, ASmallLeadIsBelievedAtOnce) {
  ClockBound bound(2, 1000, 6);
  EXPECT_EQ(bound.believe(1, 106, 100, seconds(1)), 106U);
  EXPECT_EQ(bound.believe(1, 3, 100, seconds(1)), 3U);
}

TEST(ClockBound, ALargeJumpNeedsTwoNeighbours) {
  ClockBound bound(2, 1'000'000, 6);
  EXPECT_EQ(bound.believe(1, 500'000, 100, seconds(1)), 106U);
  EXPECT_EQ(bound.believe(2, 400'000, 100, seconds(1)), 400'000U) << "now two have said so";
  EXPECT_EQ(bound.believe(1, 500'000, 100, seconds(1)), 400'000U);
}

TEST(ClockBound, RoundsThatWereDoneAloneAreBelieved) {
  ClockBound bound(2, 1'000'000, 6);
  EXPECT_EQ(bound.believe(1, 500, 100, seconds(1), 700), 500U);
  EXPECT_EQ(bound.believe(1, 800, 100, seconds(1), 700), 700U) << "no further";
}

/// Each of ten seconds brings 10 rounds, with two neighbours. Then one is away, and the other one
/// claims for ten seconds to be far ahead, while we wait for a deadline.
TEST(ClockBound, WhoIsAloneHereIsBelievedAtTheMeanPace) {
  ClockBound bound(2, 1'000'000, 6);
  for (int second = 1; second <= 11; ++second)
    for (const PeerId each : {1U, 2U})
      bound.believe(each, static_cast<Round>(second) * 10, static_cast<Round>(second) * 10,
                    seconds(second));
  EXPECT_EQ(bound.believe(1, lie, 110, seconds(21)), 116U) << "the other one could know better";
  bound.goes_away(2);
  EXPECT_EQ(bound.believe(1, 200, 110, seconds(21)), 200U);
  EXPECT_EQ(bound.believe(1, lie, 110, seconds(21)), 110 + 6 + 100U);
  bound.returns(2);
  EXPECT_EQ(bound.believe(1, lie, 110, seconds(21)), 116U);
}

TEST(ClockBound, NothingIsBeyondTheRun) {
  ClockBound bound(2, 1000, 6);
  bound.believe(1, lie, 100, seconds(1));
  EXPECT_EQ(bound.believe(2, lie, 100, seconds(1)), 1000U);
}

TEST(ClockBound, TheOnlyNeighbourOfANewProcessIsBelieved) {
  ClockBound one(1, 1000, 6);
  EXPECT_EQ(one.believe(1, 700, 0, seconds(1)), 700U);
  ClockBound two(2, 1000, 6);
  two.leaves(2);
  EXPECT_EQ(two.believe(1, 700, 0, seconds(1)), 700U);
  two.returns(2);
  EXPECT_EQ(two.believe(1, 900, 0, seconds(1)), 6U);
}

TEST(ClockBound, TheOnlyNeighbourThatANewProcessReachesIsBelieved) {
  ClockBound bound(2, 1000, 6, true);
  bound.goes_away(2);
  EXPECT_EQ(bound.believe(1, 700, 0, seconds(1)), 700U);
  EXPECT_EQ(bound.believe(1, 700, 700, seconds(1)), 700U);
  EXPECT_EQ(bound.believe(1, 900, 701, seconds(1)), 707U) << "now it knows its round";
  ClockBound other(2, 1000, 6, true);
  other.goes_away(2);
  other.returns(2);
  EXPECT_EQ(other.believe(1, 700, 0, seconds(1)), 6U);
}

/// The greeting of a process that has just begun has a clock of 0, with which ours is no measure.
TEST(ClockBound, AClockThatHasNotBegunIsLevelWithNone) {
  ClockBound one(1, 1000, 6);
  EXPECT_EQ(one.believe(1, 0, 0, seconds(1)), 0U);
  EXPECT_EQ(one.believe(1, 700, 3, seconds(1)), 700U);
}

TEST(ClockBound, LaterItIsBelievedAsFarAsTheTimeAllows) {
  ClockBound bound(1, 1'000'000, 6);
  for (int second = 1; second <= 10; ++second)  // ten rounds in each
    bound.believe(1, static_cast<Round>(second) * 10, static_cast<Round>(second) * 10,
                  seconds(second));
  EXPECT_EQ(bound.believe(1, lie, 100, seconds(11)), 100 + 6 + 20U);
  // We stood still for 50 s: it may be 500 rounds ahead, and is believed.
  EXPECT_EQ(bound.believe(1, 600, 126, seconds(60)), 600U);
}

/// The first message after a standstill may be an old one. What the time allows was then measured
/// from that message on, and the peer stayed a hundred rounds late, at half the fleet's pace.
TEST(ClockBound, AnOldMessageDoesNotHideHowLongWeStoodStill) {
  ClockBound bound(1, 1'000'000, 6);
  for (int second = 1; second <= 10; ++second)
    bound.believe(1, static_cast<Round>(second) * 10, static_cast<Round>(second) * 10,
                  seconds(second));
  EXPECT_EQ(bound.believe(1, 99, 100, seconds(60)), 99U);
  EXPECT_EQ(bound.believe(1, 100, 100, seconds(60)), 100U);
  EXPECT_EQ(bound.believe(1, 300, 100, seconds(60)), 300U);
  EXPECT_EQ(bound.believe(1, 300, 300, seconds(60)), 300U);
  EXPECT_EQ(bound.believe(1, 600, 301, seconds(60)), 600U);
}

/// Heartbeats that are further apart than the time after which a clock counts as level.
TEST(ClockBound, RareHeartbeatsBoundALeadAsOftenOnesDo) {
  ClockBound bound(1, 1'000'000, 6);
  Round own = 0;
  for (int second = 2; second <= 41; second += 3, own += 30)
    bound.believe(1, own, own, seconds(second));
  EXPECT_LE(bound.believe(1, lie, own, seconds(44)), own + 6 + 20 * 6U);
}

TEST(ClockBound, ALiarIsNotBelievedBeyondTwiceThePaceHoweverItMixesLies) {
  ClockBound bound(1, 1'000'000, 6);
  Round own = 0;
  for (int second = 1; second <= 10; ++second)
    own = bound.believe(1, static_cast<Round>(second) * 10, static_cast<Round>(second) * 10,
                        seconds(second));
  for (int second = 11; second <= 40; ++second) {
    own = bound.believe(1, lie, own, seconds(second));
    bound.believe(1, own, own, seconds(second));
  }
  EXPECT_LE(own, 100 + 6 + 20 * 30U);
}

TEST_F(OneLink, OneHeartbeatOfManyRoundsEndsNothing) {
  LinkSettings settings = settings_of(0, 3, {1, 2});
  settings.rounds = 100'000;
  make(settings);
  const ConnectionId c = meet(hello_of(1));
  meet(hello_of(2));
  user.round = 50;
  links->arrived(c, Heartbeat{.clock = lie}, now);
  NumberedMessage half{message(1, 1), 1, 0};
  half.message.round = lie;
  links->arrived(c, half, now);
  EXPECT_EQ(user.heard.at(1), 53U);
}

}  // namespace
}  // namespace gv
