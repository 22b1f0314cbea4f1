#include "gossip/seam/costs.h"

#include <algorithm>
#include <limits>

#include <gtest/gtest.h>

namespace gv {
namespace {

using namespace std::chrono_literals;

Costs some_costs() {
  Costs costs{.sent_bytes = 1000,
              .model_bytes = 900,
              .repeated_bytes = 10,
              .samples = 64,
              .longest_wait = 5ms,
              .passed_over = 2};
  costs.spent[Activity::compute] = 7s;
  costs.spent[Activity::evaluate] = 2s;
  costs.spent[Activity::checkpoint] = 1s;
  costs.spent.hidden_wire = 3s;
  return costs;
}

void expect_same(const Costs& a, const Costs& b) {
  EXPECT_EQ(a.spent.at, b.spent.at);
  EXPECT_EQ(a.spent.hidden_wire, b.spent.hidden_wire);
  EXPECT_EQ(a.sent_bytes, b.sent_bytes);
  EXPECT_EQ(a.model_bytes, b.model_bytes);
  EXPECT_EQ(a.repeated_bytes, b.repeated_bytes);
  EXPECT_EQ(a.samples, b.samples);
  EXPECT_EQ(a.longest_wait, b.longest_wait);
  EXPECT_EQ(a.passed_over, b.passed_over);
}

std::vector<std::byte> state_with(const Costs& costs) {
  StateWriter state;
  state.name("x");
  state.values(std::vector<float>{1, 2, 3});
  save_at_end(state, costs);
  return state.take();
}

TEST(Costs, StandAtTheEndOfATrainingState) {
  const std::vector<std::byte> state = state_with(some_costs());
  expect_same(costs_at_end(state), some_costs());
  StateReader in(before_costs(state));
  std::vector<float> x(3);
  in.name("x");
  in.values(x);
  EXPECT_EQ(x, (std::vector<float>{1, 2, 3})) << "what is in front of them is as it was";
  EXPECT_TRUE(in.at_end());
}

TEST(Costs, OfAnEarlierVersionAreNothing) {
  StateWriter state;
  state.values(std::vector<float>(100, 1));
  expect_same(costs_at_end(state.bytes()), Costs{});
  expect_same(costs_at_end({}), Costs{});
  EXPECT_EQ(before_costs(state.bytes()).size(), state.bytes().size());
}

/// The checksum of a checkpoint protects against damage, not malice: sums must not overflow.
TEST(Costs, ThatNoRunCanHaveAreNothing) {
  Costs costs = some_costs();
  costs.sent_bytes = std::numeric_limits<std::uint64_t>::max();
  expect_same(costs_at_end(state_with(costs)), Costs{});
  costs = some_costs();
  costs.longest_wait = Time{-1};
  expect_same(costs_at_end(state_with(costs)), Costs{});
}

TEST(Costs, AddUpAndTheLongestWaitCounts) {
  Costs costs = some_costs();
  Costs later = some_costs();
  later.longest_wait = 4ms;
  costs += later;
  EXPECT_EQ(costs.sent_bytes, 2000U);
  EXPECT_EQ(costs.samples, 128U);
  EXPECT_EQ(costs.passed_over, 4U);
  EXPECT_EQ(costs.longest_wait, 5ms);
  EXPECT_EQ(costs.spent[Activity::compute], 14s);
  EXPECT_EQ(costs.training_time(), 14s) << "without evaluations and checkpoints";
}

}  // namespace
}  // namespace gv
