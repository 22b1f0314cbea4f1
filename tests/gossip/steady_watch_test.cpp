#include <chrono>

#include <gtest/gtest.h>

#include "gossip/life/reports.h"

namespace gv {
namespace {

using std::chrono::milliseconds;

/// A peer's rounds, one after the other.
class Rounds {
 public:
  void company(int rounds, Time each) { take(rounds, each, true); }
  void alone(int rounds, Time each) { take(rounds, each, false); }
  const std::optional<RunAhead>& found() const { return watch_.found(); }
  int told() const { return told_; }

 private:
  void take(int rounds, Time each, bool company) {
    for (int k = 0; k < rounds; ++k) told_ += watch_.see(round_++, now_ += each, company) ? 1 : 0;
  }

  PaceWatch watch_;
  Round round_ = 0;
  Time now_{0};
  int told_ = 0;
};

TEST(PaceWatch, FindsWhoIsFastAlone) {
  Rounds peer;
  peer.company(30, milliseconds(10));
  peer.alone(100, milliseconds(1));
  ASSERT_TRUE(peer.found());
  EXPECT_EQ(peer.told(), 1) << "it is told once";
  EXPECT_EQ(peer.found()->usual, milliseconds(10));
  EXPECT_GT(peer.found()->first, 30U);
  EXPECT_LE(peer.found()->first, 52U);
  EXPECT_GE(peer.found()->rounds, 79U);
}

/// 28,145 rounds instead of the usual 1,340, in a real run: three of every four alone.
TEST(PaceWatch, FindsWhoIsFastBetweenTwoMessages) {
  Rounds peer;
  peer.company(30, milliseconds(20));
  for (int k = 0; k < 30; ++k) {
    peer.alone(3, milliseconds(2));
    peer.company(1, milliseconds(2));
  }
  EXPECT_TRUE(peer.found());
}

TEST(PaceWatch, BearsARoundAloneForEachInCompanyAndTheSamePaceAlone) {
  Rounds peer;
  peer.company(30, milliseconds(10));
  peer.alone(200, milliseconds(10));
  peer.alone(200, milliseconds(6));
  peer.company(30, milliseconds(10));
  EXPECT_FALSE(peer.found());
}

/// A slow neighbour has left, and the others become as fast as they can, however long their rounds
/// were before.
TEST(PaceWatch, BearsACompanyThatBecomesFaster) {
  Rounds peer;
  peer.company(50, milliseconds(100));
  peer.company(500, milliseconds(1));
  peer.alone(50, milliseconds(1));
  EXPECT_FALSE(peer.found());
}

/// A fleet that has become slower does not change the measure.
TEST(PaceWatch, MeasuresByTheFastestCompany) {
  Rounds peer;
  peer.company(50, milliseconds(10));
  peer.company(50, milliseconds(500));
  peer.alone(50, milliseconds(8));
  EXPECT_FALSE(peer.found());
}

TEST(PaceWatch, SaysNothingBeforeItKnowsALength) {
  Rounds peer;
  peer.company(10, milliseconds(10));
  peer.alone(1000, milliseconds(0));
  EXPECT_FALSE(peer.found());
}

}  // namespace
}  // namespace gv
