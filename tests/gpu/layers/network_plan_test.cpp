#include "gpu/layers/network_plan.h"

#include <algorithm>
#include <map>
#include <set>

#include <gtest/gtest.h>

namespace gv::gpu {
namespace {

std::map<std::string, NeuralNetwork> networks() {
  const Shape digits{.channels = 1, .height = 28, .width = 28};
  const Shape colours{.channels = 3, .height = 32, .width = 32};
  return {{"softmax", softmax_network(digits, 10)},
          {"mlp", mlp_network(digits, {50, 30}, 10)},
          {"lenet5", lenet5_network(digits, 10)},
          {"resnet20", resnet20_network(colours, 10, Norm::batch)},
          {"resnet20 group", resnet20_network(colours, 10, Norm::group)},
          {"transformer", transformer_network({})}};
}

/// Walks backward as DeviceNetwork does and tracks the holder of each slot: no node may overwrite
/// data that another still needs.
void walk_back(const NeuralNetwork& network, const NetworkPlan& plan) {
  std::map<std::size_t, std::size_t> holder;  // slot, node
  const std::size_t last = network.nodes.size() - 1;
  for (auto unit = plan.units.rbegin(); unit != plan.units.rend(); ++unit) {
    const std::size_t own = plan.gradient_of[unit->end];
    bool passed_on = false;
    if (unit->end != last) {
      ASSERT_EQ(holder.at(own), unit->end) << "its gradient is whole";
    }
    for (const std::size_t k : {1, 0}) {
      const std::size_t input = unit->inputs[k];
      if (input == Unit::none || input == 0) continue;
      const std::size_t slot = plan.gradient_of[input];
      ASSERT_GE(plan.gradients.at(slot), network.nodes[input].out.elements());
      if (unit->adds[k]) {
        ASSERT_EQ(holder.at(slot), input);
        ASSERT_NE(slot, own);
      } else if (slot == own) {
        ASSERT_TRUE(network.nodes[unit->head].op == Op::add || (unit->residual && k == 1))
            << "the gradient by a sum is that by an addend, and by nothing else";
        ASSERT_FALSE(passed_on) << "two would add to it";
        holder[slot] = input;
        passed_on = true;
      } else {
        ASSERT_FALSE(holder.contains(slot)) << "unit of node " << unit->end << ": a slot in use";
        holder[slot] = input;
      }
    }
    if (unit->end != last && !passed_on) holder.erase(own);
  }
  EXPECT_TRUE(holder.empty());
}

TEST(NetworkPlan, NoGradientIsOverwrittenBeforeItIsUsed) {
  for (const auto& [name, network] : networks()) {
    SCOPED_TRACE(name);
    walk_back(network, plan_network(network));
  }
}

std::size_t nodes_of(const Unit& unit) {
  const bool activated = unit.then != Op::input;
  return 1 + (unit.residual ? 1 : 0) + (activated ? 1 : 0);
}

TEST(NetworkPlan, UnitsHoldEveryNodeOnceAndComeAfterWhatTheyNeed) {
  for (const auto& [name, network] : networks()) {
    SCOPED_TRACE(name);
    const NetworkPlan plan = plan_network(network);
    std::set<std::size_t> done{0};
    std::size_t nodes = 1;
    for (const Unit& unit : plan.units) {
      for (const std::size_t input : unit.inputs) {
        EXPECT_TRUE(input == Unit::none || done.contains(input)) << "unit of " << unit.end;
      }
      EXPECT_TRUE(done.insert(unit.end).second);
      nodes += nodes_of(unit);
      if (unit.then != Op::input) {
        EXPECT_EQ(network.nodes[unit.end].op, unit.then);
      }
    }
    EXPECT_EQ(nodes, network.nodes.size());
    EXPECT_TRUE(done.contains(network.nodes.size() - 1));
  }
}

TEST(NetworkPlan, EveryValueThatIsAskedForIsKept) {
  for (const auto& [name, network] : networks()) {
    SCOPED_TRACE(name);
    const NetworkPlan plan = plan_network(network);
    std::set<std::size_t> slots{plan.value_of[0]};
    for (const Unit& unit : plan.units) {
      EXPECT_TRUE(slots.insert(plan.value_of[unit.end]).second);
      ASSERT_GE(plan.values.at(plan.value_of[unit.end]), network.nodes[unit.end].out.elements());
      if (unit.then == Op::gelu) {
        EXPECT_TRUE(slots.insert(plan.value_of[unit.head]).second) << "what it is taken of";
      }
    }
  }
}

/// Walks forward as DeviceNetwork does without a backward pass: each value stays until its last
/// consumer is done.
TEST(NetworkPlan, ValuesThatPassByAreReadBeforeOthersTakeTheirPlace) {
  for (const auto& [name, network] : networks()) {
    SCOPED_TRACE(name);
    const NetworkPlan plan = plan_network(network);
    ASSERT_EQ(plan.passing_of.at(0), 0U) << "the input stands where it does for training";
    std::map<std::size_t, std::size_t> holder{{0, 0}};  // slot, node
    for (const Unit& unit : plan.units) {
      const std::size_t slot = plan.passing_of[unit.end];
      for (const std::size_t input : unit.inputs) {
        if (input == Unit::none) continue;
        ASSERT_EQ(holder.at(plan.passing_of[input]), input) << "unit of node " << unit.end;
        ASSERT_NE(plan.passing_of[input], slot);
      }
      ASSERT_GE(plan.passing.at(slot), network.nodes[unit.end].out.elements());
      holder[slot] = unit.end;
    }
    EXPECT_LE(plan.passing.size(), 4U);
    EXPECT_LE(plan.passing.size(), plan.values.size());
  }
}

/// ResNet-20 has 19 convolutions and as many norms, each with the following sum and relu; two
/// shortcuts, the pool and the last layer.
TEST(NetworkPlan, JoinsWhatOneKernelCanDo) {
  const NeuralNetwork network =
      resnet20_network({.channels = 3, .height = 32, .width = 32}, 10, Norm::batch);
  const NetworkPlan plan = plan_network(network);
  EXPECT_LE(plan.gradients.size(), 4U);
  EXPECT_EQ(plan.units.size(), 42U);
  EXPECT_EQ(std::ranges::count_if(plan.units, &Unit::residual), 9);
  EXPECT_EQ(plan_network(mlp_network({.channels = 9}, {5, 5}, 3)).units.size(), 3U);
}

}  // namespace
}  // namespace gv::gpu
