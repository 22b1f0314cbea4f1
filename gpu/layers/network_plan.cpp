#include "gpu/layers/network_plan.h"

#include <algorithm>

#include "optim/check.h"

namespace gv::gpu {
namespace {

std::vector<std::size_t> consumers(const NeuralNetwork& network) {
  std::vector<std::size_t> count(network.nodes.size());
  for (const Node& node : network.nodes)
    for (const std::uint32_t input : node.inputs) ++count[input];
  return count;
}

/// Slots that are handed out, taken back, and grow while nobody holds them.
class Slots {
 public:
  explicit Slots(std::vector<std::size_t>& sizes) : sizes_(sizes) {}

  /// The smallest free one that is large enough, else the largest free one, made larger.
  std::size_t take(std::size_t floats) {
    std::size_t best = NetworkPlan::none;
    for (std::size_t s = 0; s < sizes_.size(); ++s)
      if (free_[s] && (best == NetworkPlan::none || better(s, best, floats))) best = s;
    if (best == NetworkPlan::none) {
      best = sizes_.size();
      sizes_.push_back(0);
      free_.push_back(true);
    }
    sizes_[best] = std::max(sizes_[best], floats);
    free_[best] = false;
    return best;
  }
  void give_back(std::size_t slot) { free_[slot] = true; }

 private:
  bool better(std::size_t a, std::size_t b, std::size_t floats) const {
    if (sizes_[b] < floats) return sizes_[a] > sizes_[b];
    return sizes_[a] >= floats && sizes_[a] < sizes_[b];
  }

  std::vector<std::size_t>& sizes_;
  std::vector<bool> free_;
};

void place_values(const NeuralNetwork& network, NetworkPlan& plan) {
  const std::vector<std::size_t> used = consumers(network);
  for (std::size_t i = 0; i < network.nodes.size(); ++i) {
    const Node& node = network.nodes[i];
    const std::size_t input = node.inputs.empty() ? 0 : node.inputs[0];
    const Op before = network.nodes[input].op;
    // Nobody else asks for the value that is overwritten: its node's way back needs only its own
    // input, and this is its only consumer.
    const bool in_place =
        node.op == Op::relu && input > 0 && used[input] == 1 && before != Op::relu;
    plan.in_place.push_back(in_place);
    plan.fused.push_back(false);
    if (in_place) {
      plan.value_of.push_back(plan.value_of[input]);
      const bool biased = (before == Op::linear || before == Op::convolution) &&
                          network.nodes[input].parameters.size() > 1;
      if (biased) plan.fused[i] = plan.fused[input] = true;
    } else {
      plan.value_of.push_back(plan.values.size());
      plan.values.push_back(node.out.elements());
    }
  }
}

void place_gradients(const NeuralNetwork& network, NetworkPlan& plan) {
  const std::size_t n = network.nodes.size();
  plan.gradient_of.assign(n, NetworkPlan::none);
  plan.adds.assign(n, {false, false});
  Slots slots(plan.gradients);
  for (std::size_t i = n; i-- > 1;) {
    const Node& node = network.nodes[i];
    GV_CHECK(i + 1 == n || plan.gradient_of[i] != NetworkPlan::none, "every node is used");
    for (std::size_t k = 0; k < node.inputs.size(); ++k) {
      const std::size_t input = node.inputs[k];
      if (input == 0) continue;
      plan.adds[i][k] = plan.gradient_of[input] != NetworkPlan::none;
      if (!plan.adds[i][k])
        plan.gradient_of[input] = slots.take(network.nodes[input].out.elements());
    }
    if (i + 1 < n) slots.give_back(plan.gradient_of[i]);
  }
}

}  // namespace

NetworkPlan plan_network(const NeuralNetwork& network) {
  NetworkPlan plan;
  place_values(network, plan);
  place_gradients(network, plan);
  return plan;
}

}  // namespace gv::gpu
