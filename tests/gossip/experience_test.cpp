#include <cmath>

#include "tests/gossip/experience_fleet.h"

// A memory, which serves learners with the transitions of actors.

namespace gv {
namespace {

TEST_F(Experience, LinksAreThoseOfOnesOwn) {
  const auto setup = fleet_setup();
  EXPECT_EQ(actors(*setup), (std::vector<PeerId>{3, 4}));
  EXPECT_EQ(experience_links(*setup, 0), (std::vector<PeerId>{2, 3}));
  EXPECT_EQ(experience_links(*setup, 1), (std::vector<PeerId>{2, 4}));
  EXPECT_EQ(experience_links(*setup, 2), (std::vector<PeerId>{0, 1, 3, 4}));
  EXPECT_EQ(experience_links(*setup, 4), (std::vector<PeerId>{1, 2}));
  setup->data_servers = 2;
  EXPECT_EQ(experience_links(*setup, 3), (std::vector<PeerId>{1, 5})) << "the actors are 4 and 5";
  EXPECT_EQ(experience_links(*setup, 5), (std::vector<PeerId>{1, 3}));
}

TEST_F(Experience, AMemoryHandsOutNothingBeforeItIsWarm) {
  make_memory();
  EXPECT_TRUE(ask(0, 0));
  EXPECT_TRUE(ask(1, 0));
  EXPECT_EQ(count(0, Kind::samples), 0);
  EXPECT_TRUE(send_chunk(3));
  EXPECT_EQ(count(3, taken_kind), 1);
  EXPECT_EQ(count(0, Kind::samples), 1);
  EXPECT_EQ(count(1, Kind::samples), 1);
}

TEST_F(Experience, AMemoryKeepsBothSidesToTheRatio) {
  make_memory();
  for (int k = 0; k < 3; ++k) EXPECT_TRUE(send_chunk(3));
  EXPECT_EQ(count(3, taken_kind), 3);
  EXPECT_TRUE(send_chunk(3));
  EXPECT_TRUE(send_chunk(4));
  EXPECT_EQ(count(3, taken_kind), 3) << "16 samples more than are learnt would be due";
  EXPECT_EQ(figures().inserted, 12U);
  EXPECT_TRUE(ask(0, 0));
  EXPECT_TRUE(ask(0, 1));
  EXPECT_EQ(count(0, Kind::samples), 2);
  EXPECT_EQ(count(3, taken_kind), 4) << "in the order in which they came";
  EXPECT_EQ(count(4, taken_kind), 0);
  EXPECT_TRUE(ask(0, 2));
  EXPECT_TRUE(ask(0, 3));
  EXPECT_EQ(count(4, taken_kind), 1);
  // The reverse: requests without new transitions.
  for (std::uint64_t k = 4; k < 40; ++k)
    if (count(0, Kind::samples) == static_cast<std::ptrdiff_t>(k)) ask(0, k);
  const MemoryFigures seen = figures();
  EXPECT_GT(seen.learnt, 2 * seen.taken + 8);
  EXPECT_LE(seen.learnt, 2 * seen.taken + 8 + 4);
}

/// A memory's round is that of the slowest learner that it serves.
TEST_F(Experience, AMemoryIsInTheRoundOfItsLearners) {
  make_memory();
  for (int k = 0; k < 3; ++k) send_chunk(3);
  ask(0, 3);
  EXPECT_EQ(peer->round, 0U);
  ask(1, 6);
  EXPECT_EQ(peer->round, 2U);
  send_chunk(4);
  EXPECT_EQ(world.sent.back().second.number, 2U) << "and so it tells its actors";
}

TEST_F(Experience, WhatNobodyHonestSendsIsRefusedAndShutsOut) {
  make_memory(0.6);
  send_chunk(3);
  for (int k = 1; k <= 3; ++k) {
    EXPECT_EQ(part->shuts_out(3), false);
    EXPECT_TRUE(send_chunk(3, chunk(std::nanf("")))) << "its size is right";
    EXPECT_EQ(part->strikes.at(3), static_cast<std::uint32_t>(k));
  }
  EXPECT_EQ(figures().inserted, 4U);
  EXPECT_FALSE(send_chunk(3)) << "the link is closed";
  EXPECT_NE(journal.said.find("peer 3 sent transitions or errors that cannot be"),
            std::string::npos)
      << journal.said;
  EXPECT_NE(journal.said.find("(3 of 3), and everything from it is refused from now on"),
            std::string::npos);
  EXPECT_TRUE(send_chunk(4)) << "the other one goes on";
  EXPECT_EQ(figures().inserted, 8U);
  EXPECT_EQ(part->figures.actors, 1U);
  // Invalid errors from a learner.
  ask(0, 0), ask(0, 1);
  EXPECT_TRUE(ask(0, 2, filled(4, -1)));
  EXPECT_EQ(part->strikes.at(0), 1U);
  EXPECT_TRUE(ask(1, 0));
  EXPECT_EQ(count(1, Kind::samples), 1);
}

TEST_F(Experience, OtherSizesAndSendersCloseTheLinkAtOnce) {
  make_memory();
  EXPECT_FALSE(send_chunk(3, nullptr));
  EXPECT_FALSE(send_chunk(3, filled(8 * form.bytes() / 4 + 1, 0)));
  EXPECT_FALSE(send_chunk(0)) << "a learner has no chunks";
  EXPECT_FALSE(ask(3, 0)) << "and an actor no questions";
  EXPECT_FALSE(ask(0, 2, filled(5, 1))) << "errors of more than a batch";
  EXPECT_TRUE(send_chunk(3, filled(3, 0))) << "no whole transitions";
  EXPECT_EQ(part->strikes.at(3), 1U);
  EXPECT_EQ(figures().inserted, 0U);
}

TEST_F(Experience, AFloodFillsNothing) {
  make_memory();
  for (int k = 0; k < 3; ++k) send_chunk(3);  // the limit before a learner asks
  std::vector<std::weak_ptr<const Buffer>> flood;
  for (int k = 0; k < 100; ++k) {
    Payload one = chunk();
    flood.push_back(one);
    send_chunk(3, std::move(one));
  }
  EXPECT_LE(std::ranges::count_if(flood, [](const auto& one) { return !one.expired(); }), 2);
  EXPECT_TRUE(part->shuts_out(3));
  EXPECT_EQ(figures().inserted, 12U);
}

TEST_F(Experience, WithoutActorsLearningGoesOnAndThatIsSaidOnce) {
  make_memory();
  send_chunk(3);
  for (std::uint64_t k = 0; k < 5; ++k) ask(0, k);
  EXPECT_EQ(count(0, Kind::samples), 3) << "eight samples to spare";
  peer->died(3);
  world.work();
  EXPECT_EQ(count(0, Kind::samples), 3) << "one is left";
  peer->died(4);
  world.work();
  EXPECT_EQ(count(0, Kind::samples), 5);
  for (std::uint64_t k = 5; k < 30; ++k) ask(0, k);
  EXPECT_EQ(count(0, Kind::samples), 30);
  const std::string line = "no actor of this memory sends anything: learning continues from 4";
  const std::size_t at = journal.said.find(line);
  ASSERT_NE(at, std::string::npos) << journal.said;
  EXPECT_EQ(journal.said.find(line, at + 1), std::string::npos);
  EXPECT_FALSE(life.done());
}

TEST_F(Experience, SilentActorsHoldNobodyUpForLongerThanTheDeadline) {
  make_memory();
  send_chunk(3);
  for (std::uint64_t k = 0; k < 5; ++k) ask(0, k);
  const std::ptrdiff_t limited = count(0, Kind::samples);
  pass(peer->plan.deadline);
  EXPECT_GT(count(0, Kind::samples), limited);
}

TEST_F(Experience, AnEmptyMemoryWithoutActorsEnds) {
  make_memory();
  ask(0, 0);
  peer->died(3);
  EXPECT_FALSE(life.done());
  peer->died(4);
  world.work();
  EXPECT_TRUE(life.done());
}

/// Found by trying: a memory ended with its last learner, whose successor found no memory.
TEST_F(Experience, AMemoryKeepsWhatItHasForWhoTakesItsLearnersPlace) {
  succession = std::chrono::seconds(3);
  make_memory();
  send_chunk(3);
  peer->deliver({1, Kind::goodbye, 0, 0, nullptr});
  ask(0, 0);
  EXPECT_EQ(count(0, Kind::samples), 1);
  peer->died(0);
  world.work();
  pass(std::chrono::seconds(1));
  EXPECT_FALSE(life.done());
  peer->replaced(0);
  pass(std::chrono::milliseconds(10));
  ask(0, 0);
  EXPECT_EQ(count(0, Kind::samples), 2);
  peer->died(0);
  world.work();
  pass(std::chrono::seconds(2));
  EXPECT_FALSE(life.done());
  pass(std::chrono::seconds(2));
  EXPECT_TRUE(life.done());
  EXPECT_EQ(journal.said, "") << "it could do without";
}

TEST_F(Experience, AMemoryEndsWithItsLearners) {
  make_memory();
  send_chunk(3);
  peer->deliver({0, Kind::goodbye, 0, 0, nullptr});
  world.work();
  EXPECT_FALSE(life.done());
  peer->deliver({1, Kind::goodbye, 0, 0, nullptr});
  world.work();
  EXPECT_TRUE(life.done());
}

}  // namespace
}  // namespace gv
