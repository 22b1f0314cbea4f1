#include <algorithm>
#include <array>
#include <cmath>

#include <gtest/gtest.h>

#include "optim/rl/acting.h"
#include "optim/rl/replay_memory.h"

namespace gv {
namespace {

TEST(SumTree, ItsTotalIsTheSumAfterAMillionUpdates) {
  constexpr std::size_t places = 1000;
  SumTree tree(places);
  std::vector<double> weights(places);
  Rng rng(1);
  for (int k = 0; k < 1'000'000; ++k) {
    const auto place = static_cast<std::size_t>(rng.below(places));
    weights[place] = rng.uniform() * 10;
    tree.set(place, weights[place]);
  }
  double sum = 0;
  for (const double w : weights) sum += w;
  EXPECT_NEAR(tree.total(), sum, 1e-9);
}

std::size_t find(const SumTree& tree, double at) {
  std::vector<double> all{at, at / 2, at};
  std::vector<std::uint32_t> places(3);
  tree.find(all, places);
  EXPECT_EQ(places[0], places[2]);
  return places[0];
}

TEST(SumTree, FindsThePlaceWhereTheRunningSumPasses) {
  for (const std::size_t places : {1U, 7U, 8U, 9U, 64U, 65U, 600U}) {
    SumTree tree(places);
    for (std::size_t k = 0; k < places; ++k)
      tree.set(k, k % 3 == 1 ? 0 : 1 + static_cast<double>(k % 5));
    double before = 0;
    for (std::size_t k = 0; k < places; ++k) {
      if (tree.weight(k) == 0) continue;
      EXPECT_EQ(find(tree, before), k);
      EXPECT_EQ(find(tree, before + tree.weight(k) / 2), k);
      before += tree.weight(k);
    }
    EXPECT_EQ(tree.total(), before);
    EXPECT_GT(tree.weight(find(tree, before)), 0) << "rounding above the total finds a place";
  }
}

MemorySpec small(std::uint32_t places, double priority, double correction = 0) {
  return {
      .places = places, .numbers = 2, .actions = 3, .priority = priority, .correction = correction};
}

void fill(Memory& memory, int from, int to) {
  for (int k = from; k < to; ++k) {
    const auto v = static_cast<float>(k);
    const std::array<float, 2> seen{v, -v};
    const std::array<float, 2> next{v + 1, -v - 1};
    memory.add({.seen = seen,
                .action = static_cast<std::uint32_t>(k) % 3,
                .reward = v / 2,
                .future = 0.5F,
                .next = next});
  }
}

/// Chi-square of 20,000 single draws against the share of each place. The bound is the quantile of
/// 0.999 by Wilson & Hilferty 1931.
TEST(Memory, DrawsAsOftenAsPrioritiesSay) {
  constexpr std::uint32_t places = 20;
  for (const double alpha : {0.0, 0.6}) {
    Memory memory(small(places, alpha));
    fill(memory, 0, places);
    std::vector<std::uint32_t> all(places);
    std::vector<float> errors(places);
    double total = 0;
    std::vector<double> shares(places);
    for (std::uint32_t k = 0; k < places; ++k) {
      all[k] = k;
      errors[k] = static_cast<float>(k) / (k % 2 == 0 ? 4 : -4);
      shares[k] = std::pow(k / 4.0 + 1e-3, alpha);
      total += shares[k];
    }
    memory.judge(all, errors);
    Rng rng(11);
    Drawn drawn;
    std::vector<double> seen(places);
    constexpr int draws = 20'000;
    for (int k = 0; k < draws; ++k) {
      memory.draw(1, rng, drawn);
      ++seen[drawn.places[0]];
    }
    double chi = 0;
    for (std::uint32_t k = 0; k < places; ++k) {
      const double expected = draws * shares[k] / total;
      chi += (seen[k] - expected) * (seen[k] - expected) / expected;
    }
    constexpr double freedom = places - 1;
    const double root = 1 - 2 / (9 * freedom) + 3.0902 * std::sqrt(2 / (9 * freedom));
    EXPECT_LT(chi, freedom * root * root * root) << "alpha " << alpha;
  }
}

TEST(Memory, ImportanceWeightsAreThoseByHand) {
  Memory memory(small(4, 0.5, 0.4));
  fill(memory, 0, 4);
  const std::array<std::uint32_t, 4> places{0, 1, 2, 3};
  const std::array<float, 4> errors{3.999F, -0.999F, 0.249F, 8.999F};
  memory.judge(places, errors);
  // Priorities 2, 1, 1/2 and 3, so P = 4/13, 2/13, 1/13 and 6/13.
  Rng rng(3);
  Drawn drawn;
  memory.draw(200, rng, drawn);
  const std::array<double, 4> share{4.0 / 13, 2.0 / 13, 1.0 / 13, 6.0 / 13};
  std::array<int, 4> count{};
  for (std::size_t k = 0; k < drawn.places.size(); ++k) {
    const std::uint32_t place = drawn.places[k];
    ++count[place];
    const double w = std::pow(4 * share[place], -0.4) / std::pow(4 * share[2], -0.4);
    EXPECT_NEAR(static_cast<double>(drawn.weights[k]), w, 1e-6);
  }
  // One draw from each of 200 equal parts of the total: as often as the share, except at borders.
  for (std::size_t p = 0; p < 4; ++p) EXPECT_NEAR(count[p], 200 * share[p], 2);
}

TEST(Memory, TheOldestGoesAndTheRestIsAsItCame) {
  Memory memory(small(5, 0));
  fill(memory, 0, 3);
  EXPECT_EQ(memory.size(), 3U);
  fill(memory, 3, 8);
  EXPECT_EQ(memory.size(), 5U);
  Rng rng(1);
  Drawn drawn;
  memory.draw(200, rng, drawn);
  std::array<int, 8> seen{};
  for (std::uint32_t k = 0; k < drawn.rows(); ++k) {
    const float v = drawn.seen[2 * k];
    ++seen.at(static_cast<std::size_t>(v));
    EXPECT_EQ(drawn.seen[2 * k + 1], -v);
    EXPECT_EQ(drawn.next[2 * k], v + 1);
    EXPECT_EQ(drawn.rewards[k], v / 2);
    EXPECT_EQ(drawn.actions[k], static_cast<std::uint32_t>(v) % 3);
    EXPECT_EQ(drawn.futures[k], 0.5F);
    EXPECT_EQ(drawn.weights[k], 1.0F);
  }
  EXPECT_EQ(seen, (std::array<int, 8>{0, 0, 0, 40, 40, 40, 40, 40}));
}

TEST(Memory, ANewTransitionHasTheHighestPriorityUntilItIsJudged) {
  Memory memory(small(3, 1));
  fill(memory, 0, 2);
  const std::array<std::uint32_t, 2> places{0, 1};
  const std::array<float, 2> errors{8.999F, 0.999F};
  memory.judge(places, errors);
  fill(memory, 2, 3);
  Rng rng(1);
  Drawn drawn;
  memory.draw(190, rng, drawn);
  std::array<int, 3> seen{};
  for (const std::uint32_t place : drawn.places) ++seen[place];
  EXPECT_EQ(seen, (std::array<int, 3>{90, 10, 90}));
}

TEST(Memory, ErrorsThatAreNoNumbersChangeNothing) {
  Memory memory(small(2, 1));
  fill(memory, 0, 2);
  const std::array<std::uint32_t, 2> places{0, 1};
  const std::array<float, 2> errors{std::nanf(""), INFINITY};
  memory.judge(places, errors);
  Rng rng(1);
  Drawn drawn;
  memory.draw(10, rng, drawn);
  EXPECT_EQ(std::ranges::count(drawn.places, 0U), 5);
}

/// Priorities were once infinite, and only the last place was drawn.
TEST(Memory, ErrorsBeyondAllBoundsLeaveNumbersToDrawBy) {
  Memory memory(small(3, 10, 0.4));
  fill(memory, 0, 3);
  const std::array<std::uint32_t, 3> places{0, 1, 2};
  const std::array<float, 3> errors{3e38F, -3e38F, 1};
  memory.judge(places, errors);
  Rng rng(1);
  Drawn drawn;
  memory.draw(10, rng, drawn);
  EXPECT_EQ(std::ranges::count(drawn.places, 0U), 5);
  EXPECT_EQ(std::ranges::count(drawn.places, 1U), 5);
  EXPECT_EQ(drawn.weights, std::vector<float>(10, 1.0F));
}

std::vector<std::byte> saved(const Memory& memory) {
  StateWriter out;
  memory.save(out);
  return out.take();
}

TEST(Memory, WhatIsRestoredDrawsTheSame) {
  for (const int filled : {0, 3, 5, 8}) {
    for (const bool binary : {false, true}) {
      MemorySpec spec = small(5, 0.6, 0.4);
      spec.binary = binary;
      Memory one(spec), other(spec);
      fill(one, 0, filled);
      if (filled > 0) {
        const std::array<std::uint32_t, 1> places{0};
        const std::array<float, 1> errors{3};
        one.judge(places, errors);
      }
      const std::vector<std::byte> bytes = saved(one);
      StateReader in(bytes);
      other.restore(in);
      in.end();
      EXPECT_EQ(saved(other), bytes);
      fill(one, 20, 21), fill(other, 20, 21);
      Rng rng(4), same(4);
      Drawn a, b;
      one.draw(16, rng, a), other.draw(16, same, b);
      EXPECT_EQ(a.places, b.places);
      EXPECT_EQ(a.seen, b.seen);
      EXPECT_EQ(a.weights, b.weights);
    }
  }
}

TEST(Memory, RefusesWhatItCannotHold) {
  Memory full(small(5, 0.6));
  fill(full, 0, 8);
  for (const std::uint32_t places : {4U, 6U}) {
    Memory other(small(places, 0.6));
    const std::vector<std::byte> bytes = saved(full);
    StateReader in(bytes);
    EXPECT_THROW(other.restore(in), std::runtime_error) << places;
  }
  MemorySpec fewer = small(5, 0.6);
  fewer.actions = 2;
  Memory other(fewer);
  const std::vector<std::byte> bytes = saved(full);
  StateReader in(bytes);
  EXPECT_THROW(other.restore(in), std::runtime_error) << "action 2 of 2";
}

/// A transition with its numbers by value.
struct Kept {
  float seen, reward, future, next;
  std::uint32_t action;
};

class Steps : public testing::Test {
 protected:
  /// Step k goes from k to k + 1, with action k and the reward.
  void step(int k, float reward, bool over = false, bool cut = false) {
    const std::array<float, 1> from{static_cast<float>(k)};
    const std::array<float, 1> to{static_cast<float>(k + 1)};
    steps_.step(from, static_cast<std::uint32_t>(k), {.reward = reward, .over = over, .cut = cut},
                to, [this](const Transition& t) {
                  kept_.push_back({t.seen[0], t.reward, t.future, t.next[0], t.action});
                });
  }
  void expect(std::size_t k, float seen, float reward, float future, float next) {
    ASSERT_LT(k, kept_.size());
    EXPECT_EQ(kept_[k].seen, seen);
    EXPECT_EQ(kept_[k].action, static_cast<std::uint32_t>(seen));
    EXPECT_EQ(kept_[k].reward, reward);
    EXPECT_EQ(kept_[k].future, future);
    EXPECT_EQ(kept_[k].next, next);
  }

  NStep steps_{3, 0.5, 1};
  std::vector<Kept> kept_;
};

TEST_F(Steps, ARewardCountsHalfAStepLater) {
  step(0, 1);
  step(1, 2);
  EXPECT_TRUE(kept_.empty());
  step(2, 4);
  step(3, 8);
  ASSERT_EQ(kept_.size(), 2U);
  expect(0, 0, 1 + 1 + 1, 0.125F, 3);
  expect(1, 1, 2 + 2 + 2, 0.125F, 4);
}

TEST_F(Steps, AnEpisodeThatIsOverHasNoFuture) {
  step(0, 1);
  step(1, 2);
  step(2, 4);
  step(3, 8, true);
  ASSERT_EQ(kept_.size(), 4U);
  expect(1, 1, 6, 0, 4);
  expect(2, 2, 8, 0, 4);
  expect(3, 3, 8, 0, 4);
}

TEST_F(Steps, OneThatWasCutHasTheFutureOfFewerSteps) {
  step(0, 1);
  step(1, 2, false, true);
  ASSERT_EQ(kept_.size(), 2U);
  expect(0, 0, 2, 0.25F, 2);
  expect(1, 1, 2, 0.5F, 2);
  step(7, 3);
  step(8, 3);
  step(9, 4);
  ASSERT_EQ(kept_.size(), 3U);
  expect(2, 7, 3 + 1.5F + 1, 0.125F, 10);
}

TEST_F(Steps, GoOnFromWhatWasSaved) {
  step(0, 1);
  step(1, 2);
  StateWriter out;
  steps_.save(out);
  steps_ = NStep(3, 0.5, 1);
  StateReader in(out.bytes());
  steps_.restore(in, 10);
  in.end();
  step(2, 4);
  ASSERT_EQ(kept_.size(), 1U);
  expect(0, 0, 3, 0.125F, 3);
  StateReader again(out.bytes());
  EXPECT_THROW(steps_.restore(again, 1), std::runtime_error) << "action 1 of 1";
}

}  // namespace
}  // namespace gv
