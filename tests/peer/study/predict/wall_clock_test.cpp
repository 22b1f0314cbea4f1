#include <gtest/gtest.h>

#include "peer/study/predict/forecast/round_prediction.h"

namespace gv {
namespace {

/// 270,000 floats, as in a table that was computed by hand.
WallClock network(std::size_t peers, double megabits, double latency) {
  return {.peers = peers,
          .latency = latency,
          .bandwidth = megabits * 1e6 / 8,
          .model_bytes = 1.09e6,
          .compute = 0};
}

TEST(WallClock, IsTheTableOfTheClosedForms) {
  EXPECT_NEAR(network(8, 10, 5e-3).server(), 13.962, 1e-3);
  EXPECT_NEAR(network(8, 10, 5e-3).ring_all_reduce(), 1.596, 1e-3);
  EXPECT_NEAR(network(8, 10, 5e-3).gossip(2, false), 1.749, 1e-3);
  EXPECT_NEAR(network(8, 10, 5e-3).gossip(1, false), 0.877, 1e-3);
  EXPECT_NEAR(network(16, 100, 5e-3).ring_all_reduce(), 0.3135, 1e-4);
  EXPECT_NEAR(network(16, 1000, 20e-3).gossip(4, false), 0.0549, 1e-4);
}

TEST(WallClock, WhatOverlapsIsHiddenByTheLongerOne) {
  WallClock clock = network(8, 100, 5e-3);
  const double wire = clock.gossip(2, false);
  clock.compute = wire;
  EXPECT_DOUBLE_EQ(clock.gossip(2, true), wire);
  EXPECT_DOUBLE_EQ(clock.gossip(2, false), 2 * wire);
  clock.compute = 3 * wire;
  EXPECT_DOUBLE_EQ(clock.gossip(2, true), 3 * wire);
}

TEST(WallClock, OnePeerHasNobodyToWaitFor) {
  WallClock clock = network(1, 10, 1);
  clock.compute = 0.5;
  EXPECT_DOUBLE_EQ(clock.ring_all_reduce(), 0.5);
  EXPECT_DOUBLE_EQ(clock.gossip(0, true), 0.5);
  clock.bandwidth = 0;
  EXPECT_DOUBLE_EQ(clock.server(), 2.5);
}

}  // namespace
}  // namespace gv
