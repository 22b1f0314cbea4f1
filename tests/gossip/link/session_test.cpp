#include "gossip/link/session.h"

#include <gtest/gtest.h>

namespace gv {
namespace {

TEST(Session, NumbersKeepsAndForgets) {
  Session session;
  for (Round round = 0; round < 3; ++round)
    EXPECT_EQ(session.send({0, Kind::goodbye, round, 0, nullptr}).number, round + 1);
  EXPECT_FALSE(session.acknowledge(4)) << "never sent";
  EXPECT_TRUE(session.acknowledge(2));
  ASSERT_EQ(session.unacknowledged().size(), 1U);
  EXPECT_EQ(session.unacknowledged().front().message.number, 2U);
  EXPECT_TRUE(session.acknowledge(1)) << "an old one says nothing new";
  EXPECT_EQ(session.unacknowledged().size(), 1U);
}

TEST(Session, TakesEachNumberOnceAndInOrder) {
  Session session;
  EXPECT_EQ(session.arrive(1), Session::Arrival::next);
  EXPECT_EQ(session.arrive(1), Session::Arrival::again);
  EXPECT_EQ(session.arrive(3), Session::Arrival::gap);
  EXPECT_EQ(session.arrive(2), Session::Arrival::next);
  EXPECT_EQ(session.received(), 2U);
}

}  // namespace
}  // namespace gv
