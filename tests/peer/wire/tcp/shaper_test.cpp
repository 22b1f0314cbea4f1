#include <algorithm>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "peer/wire/tcp/tcp_connection.h"
#include "peer/wire/tcp/timing.h"

namespace gv {
namespace {

using std::chrono::milliseconds;

NetworkSpec megabyte_network(NetworkShape shape) {
  NetworkSpec network;
  network.bandwidth = 1e6;  // 1000 bytes a millisecond
  network.shape = shape;
  return network;
}

TEST(TokenBucket, LetsThroughItsRateHoweverBytesAreCut) {
  for (const std::uint64_t frame : {1U, 10U, 250U, 1000U, 50'000U}) {
    TokenBucket bucket(1e6);
    Time last{0};
    for (std::uint64_t sent = 0; sent < 100'000; sent += frame) last = bucket.take(frame, Time{0});
    EXPECT_EQ(last, milliseconds(100)) << "in frames of " << frame;
  }
}

TEST(TokenBucket, SavesNothingWhileIdleUnlessItHasABurst) {
  TokenBucket none(1e6);
  EXPECT_EQ(none.take(1000, milliseconds(50)), milliseconds(51));
  TokenBucket some(1e6, milliseconds(2));
  EXPECT_EQ(some.take(2000, milliseconds(50)), milliseconds(50)) << "the burst, at once";
  EXPECT_EQ(some.take(1000, milliseconds(50)), milliseconds(51)) << "then at the rate";
  EXPECT_EQ(some.take(1000, milliseconds(50)), milliseconds(52));
}

TEST(TokenBucket, WithoutARateTakesNoTime) {
  TokenBucket bucket;
  EXPECT_EQ(bucket.take(1'000'000'000, milliseconds(3)), milliseconds(3));
}

TEST(Shaper, LatencyComesAfterTheBandwidth) {
  NetworkSpec network = megabyte_network(NetworkShape::per_link);
  network.latency = milliseconds(7);
  Shaper shaper(network, 0, 1);
  EXPECT_EQ(shaper.arrival(1, 3000, milliseconds(10)), milliseconds(20));
  EXPECT_EQ(shaper.arrival(1, 0, milliseconds(10)), milliseconds(20)) << "waits for its turn";
  EXPECT_EQ(shaper.arrival(1, 1000, milliseconds(100)), milliseconds(108));
}

TEST(Shaper, ACardIsSharedAndLinksAreNot) {
  const NetworkSpec nic = megabyte_network(NetworkShape::per_nic);
  const NetworkSpec link = megabyte_network(NetworkShape::per_link);
  Shaper shared(nic, 0, 1);
  Shaper apart(link, 0, 1);
  for (const PeerId to : {1U, 2U, 3U}) {
    EXPECT_EQ(shared.arrival(to, 1000, Time{0}), milliseconds(to));
    EXPECT_EQ(apart.arrival(to, 1000, Time{0}), milliseconds(1));
  }
}

TEST(Shaper, ASignOfLifeWaitsForNobodyElsesFrames) {
  NetworkSpec network = megabyte_network(NetworkShape::per_nic);
  network.latency = milliseconds(7);
  Shaper shaper(network, 0, 1);
  shaper.arrival(1, 20'000'000, Time{0});
  EXPECT_EQ(shaper.beat_arrival(2, milliseconds(10)), milliseconds(17));
  EXPECT_EQ(shaper.beat_arrival(1, milliseconds(10)), milliseconds(20'007)) << "in its stream";
  EXPECT_EQ(shaper.arrival(2, 1000, milliseconds(20)), milliseconds(20'008)) << "takes no time";
}

TEST(Travel, BytesArriveInEqualSharesAndTheLastOneAtTheEnd) {
  const Travel::Clock::time_point begin{std::chrono::seconds(100)};
  const auto after = [&](int ms) { return begin + milliseconds(ms); };
  const Travel slow{begin, after(8000)};
  EXPECT_EQ(slow.ready(8000, begin), 0U);
  EXPECT_EQ(slow.ready(8000, after(1500)), 1500U);
  EXPECT_EQ(slow.ready(8000, after(7000)), 7999U) << "copied before it is due";
  EXPECT_EQ(slow.ready(8000, after(8000)), 8000U);
  EXPECT_EQ(slow.next(after(1500)), after(2500));
  EXPECT_EQ(slow.next(after(6500)), after(7000));
  EXPECT_EQ(slow.next(after(7000)), after(8000));
  const Travel quick{begin, after(30)};
  EXPECT_EQ(quick.ready(8000, begin), 7999U);
  EXPECT_EQ(quick.next(begin), after(30));
}

TEST(Shaper, ASlowLinkBehindAFastCardDecidesForItself) {
  NetworkSpec network = megabyte_network(NetworkShape::per_nic);
  network.links[{0, 2}] = {.latency = milliseconds(5), .bandwidth = 1e5};
  Shaper shaper(network, 0, 1);
  EXPECT_EQ(shaper.arrival(2, 1000, Time{0}), milliseconds(15)) << "bytes flow through both";
  EXPECT_EQ(shaper.arrival(1, 1000, Time{0}), milliseconds(2)) << "the card is free after 1 ms";
  EXPECT_EQ(shaper.arrival(2, 1000, Time{0}), milliseconds(25));
  Shaper other(network, 2, 1);
  EXPECT_EQ(other.arrival(0, 1000, Time{0}), milliseconds(15)) << "the same both ways";
}

TEST(Shaper, WhatALostConnectionNeverSentTakesNobodysTime) {
  const NetworkSpec network = megabyte_network(NetworkShape::per_nic);
  Shaper shaper(network, 0, 1);
  for (int k = 0; k < 5; ++k) shaper.arrival(1, 2000, Time{0});
  EXPECT_EQ(shaper.arrival(2, 1000, Time{0}), milliseconds(11)) << "behind ten milliseconds";
  shaper.forget(1, milliseconds(3));  // one frame and a half have left
  EXPECT_EQ(shaper.arrival(2, 1000, milliseconds(3)), milliseconds(11)) << "never out of turn";
  EXPECT_EQ(shaper.arrival(1, 1000, milliseconds(3)), milliseconds(6)) << "3 + 1 + 1 + 1";
  shaper.forget(1, milliseconds(20));
  EXPECT_EQ(shaper.arrival(1, 1000, milliseconds(20)), milliseconds(21)) << "all had left";
}

/// Connections that end again and again, with all frames queued on them.
TEST(Shaper, AddsUpNothingOverLostConnections) {
  NetworkSpec network = megabyte_network(NetworkShape::per_link);
  network.latency = milliseconds(7);
  Shaper shaper(network, 0, 1);
  for (int k = 0; k < 1000; ++k) {
    const Time now = milliseconds(10) * k;
    EXPECT_EQ(shaper.arrival(1, 50'000, now), now + milliseconds(57));
    shaper.forget(1, now + milliseconds(9));
  }
}

TEST(Shaper, JitterIsSeededBoundedAndNeverChangesTheOrder) {
  NetworkSpec network;
  network.latency = milliseconds(10);
  network.jitter = milliseconds(4);
  const auto arrivals = [&](std::uint64_t seed, PeerId to, Time apart) {
    Shaper shaper(network, 0, seed);
    std::vector<Time> all;
    for (int i = 0; i < 1000; ++i) all.push_back(shaper.arrival(to, 100, i * apart));
    return all;
  };
  const std::vector<Time> far = arrivals(1, 1, milliseconds(100));
  double sum = 0;
  for (int i = 0; i < 1000; ++i) {
    const Time latency = far[static_cast<std::size_t>(i)] - i * milliseconds(100);
    EXPECT_GE(latency, milliseconds(6));
    EXPECT_LE(latency, milliseconds(14));
    sum += std::chrono::duration<double, std::milli>(latency).count();
  }
  EXPECT_NEAR(sum / 1000, 10, 4 * 4 / std::sqrt(3 * 1000.0)) << "four standard errors";
  const std::vector<Time> near = arrivals(1, 1, std::chrono::microseconds(10));
  EXPECT_TRUE(std::ranges::is_sorted(near));
  EXPECT_EQ(far, arrivals(1, 1, milliseconds(100)));
  EXPECT_NE(far, arrivals(2, 1, milliseconds(100)));
  EXPECT_NE(far, arrivals(1, 2, milliseconds(100)));
}

TEST(Shaper, HoldsBack) {
  const NetworkSpec network;
  Shaper shaper(network, 0, 1);
  shaper.hold(1, milliseconds(9));
  EXPECT_EQ(shaper.arrival(1, 1, milliseconds(3)), milliseconds(9));
  EXPECT_EQ(shaper.arrival(2, 1, milliseconds(3)), milliseconds(3));
}

}  // namespace
}  // namespace gv
