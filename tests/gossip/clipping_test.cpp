#include "gossip/exchange/clipping.h"

#include <cmath>
#include <functional>
#include <limits>

#include "tests/gossip/one_peer.h"

namespace gv {
namespace {

constexpr float endless = std::numeric_limits<float>::infinity();

/// Peer 0 of three; its model is four numbers, all 1.
struct Clips : OnePeer {
  void make_clipping(double clip) {
    Plan plan = ring_plan();
    plan.traffic.robust = clip;
    make(4, plan);
  }
  static Message half(PeerId from, std::uint64_t exchange, float value, float bound) {
    Message half = model(from, exchange, 0, filled(4, value));
    half.bound = bound;
    return half;
  }
  /// Runs one exchange; returns the bound that our own half announces.
  float exchange(float of_1, float of_2, float bound = endless) {
    world.sent.clear();
    const std::uint64_t number = done_++;
    const Task<> average = begin_average();
    EXPECT_TRUE(peer->deliver(half(1, number, of_1, bound)));
    EXPECT_TRUE(peer->deliver(half(2, number, of_2, bound)));
    world.work();
    EXPECT_TRUE(average.done());
    end_round();
    return world.sent.at(0).second.bound;
  }
  void set_x(float value) { replica->load(Vector::x, {0, 4}, *filled(4, value)); }

  std::uint64_t done_ = 0;
};

TEST_F(Clips, CountsNothingBeyondTheShorterOfBothBounds) {
  make_clipping(3);
  EXPECT_EQ(exchange(1e20F, 1, 2), 3) << "our own";
  // Moves a third of a distance of 2, in four equal coordinates.
  for (const float value : x()) EXPECT_NEAR(value, 1 + 1.0 / 3, 1e-6);
  EXPECT_EQ(journal.settlements.at(0).bound, 2);
  EXPECT_EQ(exchange(-1e20F, x()[0]), 3);
  for (const float value : x()) EXPECT_NEAR(value, 1 + 1.0 / 3 - 0.5, 1e-6) << "now of 3";
}

TEST_F(Clips, LeavesWhatIsNearAsItIs) {
  make_clipping(3);
  exchange(1.6F, 0.7F);
  for (const float value : x()) EXPECT_NEAR(value, 1.1, 1e-6);
  EXPECT_TRUE(peer->clipped().empty());
}

/// The bound is the distance at which two of its own steps flow over an edge of weight a third: six
/// steps, whatever flows arrive; in the first exchange it is unknown.
TEST_F(Clips, GoesByItsOwnStepsAlone) {
  make_clipping(0);
  EXPECT_EQ(exchange(5, 5), 0);
  EXPECT_EQ(x()[0], 1) << "nothing flows";
  set_x(1.5F);  // a step of 0.5 in each of four coordinates: of length 1
  EXPECT_NEAR(exchange(-3, 6), 6, 1e-5) << "both are further away, on opposite sides";
  EXPECT_NEAR(exchange(9, 9), 6 * std::sqrt(0.5), 1e-5) << "a step of 0, for flows are none";
  EXPECT_NEAR(x()[0], 1.5 + 2 * std::sqrt(0.5), 1e-5) << "two thirds of 6 sqrt(0.5) / 2";
  EXPECT_NEAR(exchange(0, 0), 6 * std::sqrt(1.0 / 3), 1e-5);
}

TEST_F(Clips, TakesNoBoundThatIsNone) {
  make_clipping(0);
  const Task<> average = begin_average();
  EXPECT_FALSE(peer->deliver(half(1, 0, 1, std::nanf(""))));
  EXPECT_FALSE(peer->deliver(half(1, 0, 1, -1)));
  EXPECT_TRUE(peer->deliver(half(1, 0, 1, 0)));
}

TEST_F(Clips, NamesWhoIsFarAway) {
  make_clipping(1);
  for (int k = 0; k < 12; ++k) exchange(1e30F, x()[0]);
  EXPECT_EQ(peer->clipped(), (std::vector<ClippedFlows>{{.of = 1, .exchanges = 12, .far = 12}}));
  EXPECT_EQ(journal.events.size(), 2U) << "the first and the tenth\n" << journal.said;
  EXPECT_NE(journal.said.find("the model of peer 1 is more than 1e6 times further away"),
            std::string::npos)
      << journal.said;
}

/// We take a step of length 1 in each exchange; neighbour 2 is always at our place, or follows us.
struct Judges : Clips {
  /// Runs this many exchanges with the halves of neighbour 1; those of neighbour 2 are near us.
  void go(int exchanges, const std::function<float(float ours)>& theirs) {
    for (int k = 0; k < exchanges; ++k) {
      const float ours = x()[0];
      exchange(theirs(ours), ours + 0.2F);
      set_x(x()[0] + 0.5F);
    }
  }
};

/// Neighbour 1 begins at our place and never moves while we do: it is near, and holds us back.
TEST_F(Judges, NamesWhoStandsStill) {
  make_clipping(0);
  go(50, [](float) { return 1.0F; });
  ASSERT_EQ(peer->clipped().size(), 1U);
  EXPECT_EQ(peer->clipped()[0].of, 1U);
  EXPECT_GT(peer->clipped()[0].still, 5U);
  EXPECT_GT(peer->clipped()[0].steps, 1);
  EXPECT_NE(journal.said.find("peer 1 has not changed for 40 exchanges"), std::string::npos)
      << journal.said;
}

/// Neighbour 1 is eight steps away in each exchange, the other one near: after a while it loses its
/// share.
TEST_F(Judges, NamesWhoStaysApart) {
  make_clipping(0);
  go(60, [](float ours) { return ours - 4.0F; });
  ASSERT_EQ(peer->clipped().size(), 1U);
  EXPECT_EQ(peer->clipped()[0].of, 1U);
  EXPECT_GT(peer->clipped()[0].far, 20U);
  EXPECT_NEAR(world.sent.at(0).second.bound, 6 * 0.02, 0.02) << "of six steps a fiftieth";
}

/// Both neighbours are equally far away, as with unlike data: neither is named.
TEST_F(Judges, NamesNobodyWhereAllAreApart) {
  make_clipping(0);
  for (int k = 0; k < 60; ++k) {
    const float ours = x()[0];
    exchange(ours - 4, ours + 4);
    set_x(x()[0] + 0.5F);
  }
  for (const ClippedFlows& flows : peer->clipped()) EXPECT_EQ(flows.far + flows.still, 0U);
}

/// Both ends compute the same factor; if it cannot be computed, nothing flows.
TEST(ClipFactor, IsTheSameAtBothEnds) {
  Rng rng(3);
  for (const std::size_t n : {1U, 7U, 300U, 5000U}) {
    Buffer a(n * sizeof(float));
    Buffer b(n * sizeof(float));
    for (float& value : a.floats()) value = static_cast<float>(rng.normal());
    for (float& value : b.floats()) value = static_cast<float>(1e3 * rng.normal());
    const float factor = clip_factor(2, a, b);
    EXPECT_EQ(factor, clip_factor(2, b, a)) << n;
    EXPECT_GT(factor, 0);
    double squares = 0;
    for (std::size_t k = 0; k < n; ++k) squares += std::pow(a.floats()[k] - b.floats()[k], 2);
    EXPECT_NEAR(factor * std::sqrt(squares), std::min(2.0, std::sqrt(squares)), 1e-4) << n;
  }
}

TEST(ClipFactor, IsZeroWhereThereIsNoDistance) {
  Buffer a(2 * sizeof(float));
  Buffer b(2 * sizeof(float));
  std::ranges::fill(a.floats(), 0.0F);
  std::ranges::fill(b.floats(), std::numeric_limits<float>::max());
  EXPECT_EQ(clip_factor(1e-9, a, b), 0);
  EXPECT_EQ(clip_factor(unbounded, a, b), 1);
  EXPECT_EQ(clip_factor(0, a, a), 1) << "no distance is no more than any bound";
  b.floats()[0] = std::nanf("");
  EXPECT_EQ(clip_factor(1, a, b), 0);
  b.floats()[0] = endless;
  EXPECT_EQ(clip_factor(1, a, b), 0);
}

}  // namespace
}  // namespace gv
