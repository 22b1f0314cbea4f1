#include "gpu/layers/network_plan.h"

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

/// Walks the way back as DeviceNetwork does and looks at who holds which slot: nobody may write
/// into what another one still needs.
void walk_back(const NeuralNetwork& network, const NetworkPlan& plan) {
  std::map<std::size_t, std::size_t> holder;  // slot, node
  const std::size_t last = network.nodes.size() - 1;
  for (std::size_t i = last; i > 0; --i) {
    const Node& node = network.nodes[i];
    if (i != last) {
      ASSERT_EQ(holder.at(plan.gradient_of[i]), i) << "its gradient is whole";
    }
    for (std::size_t k = 0; k < node.inputs.size(); ++k) {
      const std::size_t input = node.inputs[k];
      if (input == 0) continue;
      const std::size_t slot = plan.gradient_of[input];
      ASSERT_GE(plan.gradients.at(slot), network.nodes[input].out.elements());
      if (plan.adds[i][k]) {
        ASSERT_EQ(holder.at(slot), input);
      } else {
        ASSERT_FALSE(holder.contains(slot)) << "node " << i << " writes into a slot in use";
        holder[slot] = input;
      }
    }
    if (i != last) holder.erase(plan.gradient_of[i]);
  }
  EXPECT_TRUE(holder.empty());
}

TEST(NetworkPlan, NoGradientIsOverwrittenBeforeItIsUsed) {
  for (const auto& [name, network] : networks()) {
    SCOPED_TRACE(name);
    walk_back(network, plan_network(network));
  }
}

TEST(NetworkPlan, ValuesAreKeptExceptWhereAReluTakesTheirPlace) {
  for (const auto& [name, network] : networks()) {
    SCOPED_TRACE(name);
    const NetworkPlan plan = plan_network(network);
    std::map<std::size_t, std::vector<std::size_t>> nodes_of;
    for (std::size_t i = 0; i < network.nodes.size(); ++i) nodes_of[plan.value_of[i]].push_back(i);
    for (const auto& [slot, nodes] : nodes_of) {
      ASSERT_LE(nodes.size(), 2U);
      if (nodes.size() == 1) continue;
      const Node& relu = network.nodes[nodes[1]];
      EXPECT_EQ(relu.op, Op::relu);
      EXPECT_EQ(relu.inputs[0], nodes[0]);
      for (std::size_t i = 0; i < network.nodes.size(); ++i)
        for (const std::uint32_t input : network.nodes[i].inputs)
          EXPECT_TRUE(input != nodes[0] || i == nodes[1]) << "another one looks at it";
      EXPECT_TRUE(plan.in_place[nodes[1]]);
    }
  }
}

TEST(NetworkPlan, GradientsShareFewSlots) {
  const NeuralNetwork network =
      resnet20_network({.channels = 3, .height = 32, .width = 32}, 10, Norm::batch);
  const NetworkPlan plan = plan_network(network);
  EXPECT_LE(plan.gradients.size(), 4U);
  std::size_t fused = 0;
  for (const bool f : plan_network(mlp_network({.channels = 9}, {5, 5}, 3)).fused) fused += f;
  EXPECT_EQ(fused, 4U) << "both hidden layers and their relus";
}

}  // namespace
}  // namespace gv::gpu
