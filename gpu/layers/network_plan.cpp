#include "gpu/layers/network_plan.h"

#include <algorithm>
#include <ranges>

#include "optim/check.h"

namespace gv::gpu {
namespace {

/// Slots that are taken and given back. A free slot can grow.
class Slots {
 public:
  explicit Slots(std::vector<std::size_t>& sizes) : sizes_(sizes) {}

  /// Takes the smallest free slot that is large enough, else enlarges the largest free one.
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

bool is_norm(Op op) {
  return op == Op::batch_norm || op == Op::group_norm || op == Op::layer_norm;
}

/// Divides a network's nodes into units.
class Joiner {
 public:
  explicit Joiner(const NeuralNetwork& network)
      : network_(network),
        only_consumer_(network.nodes.size(), Unit::none),
        consumers_(network.nodes.size()),
        joined_(network.nodes.size()) {
    for (std::size_t i = 0; i < network.nodes.size(); ++i)
      for (const std::uint32_t input : network.nodes[i].inputs) {
        ++consumers_[input];
        only_consumer_[input] = i;
      }
  }

  std::vector<Unit> units() {
    std::vector<Unit> all;
    for (std::size_t i = 1; i < network_.nodes.size(); ++i)
      if (!joined_[i]) all.push_back(unit_from(i));
    std::ranges::sort(all, {}, &Unit::end);
    return all;
  }

 private:
  const Node& node(std::size_t i) const { return network_.nodes[i]; }
  /// Returns whether the node's value has one consumer, with this op.
  bool goes_to(std::size_t i, Op op) const {
    return consumers_[i] == 1 && node(only_consumer_[i]).op == op && !joined_[only_consumer_[i]];
  }
  void join(Unit& unit) {
    unit.end = only_consumer_[unit.end];
    joined_[unit.end] = true;
  }

  Unit unit_from(std::size_t head) {
    Unit unit{.head = head, .end = head};
    joined_[head] = true;
    std::ranges::copy(node(head).inputs, unit.inputs.begin());
    const Op op = node(head).op;
    const bool biased = node(head).parameters.size() > 1;
    const bool linear = op == Op::linear && biased;
    // The backward pass of a norm writes both its gradients at once, and so needs the first.
    if (linear || (is_norm(op) && unit.inputs[0] != 0)) take_residual(unit);
    const bool relu = is_norm(op) || op == Op::add || (op == Op::convolution && biased) ||
                      (linear && !unit.residual);
    if (relu && goes_to(unit.end, Op::relu)) {
      unit.then = Op::relu;
      join(unit);
    } else if (linear && !unit.residual && goes_to(unit.end, Op::gelu)) {
      unit.then = Op::gelu;
      join(unit);
    }
    return unit;
  }

  void take_residual(Unit& unit) {
    if (!goes_to(unit.end, Op::add)) return;
    const auto& addends = node(only_consumer_[unit.end]).inputs;
    const std::size_t other = addends[0] == unit.end ? addends[1] : addends[0];
    unit.inputs[1] = other;
    unit.residual = true;
    join(unit);
  }

  const NeuralNetwork& network_;
  std::vector<std::size_t> only_consumer_, consumers_;
  std::vector<bool> joined_;
};

void place_values(const NeuralNetwork& network, NetworkPlan& plan) {
  plan.value_of.assign(network.nodes.size(), NetworkPlan::none);
  const auto place = [&](std::size_t i) {
    plan.value_of[i] = plan.values.size();
    plan.values.push_back(network.nodes[i].out.elements());
  };
  place(0);
  for (const Unit& unit : plan.units) {
    if (unit.then == Op::gelu) place(unit.head);
    place(unit.end);
  }
}

/// A slot is free again when the last consumer of its value is done.
void place_passing(const NeuralNetwork& network, NetworkPlan& plan) {
  plan.passing_of.assign(network.nodes.size(), NetworkPlan::none);
  std::vector<std::size_t> last_use(network.nodes.size(), NetworkPlan::none);
  for (std::size_t u = 0; u < plan.units.size(); ++u)
    for (const std::size_t input : plan.units[u].inputs)
      if (input != NetworkPlan::none) last_use[input] = u;
  Slots slots(plan.passing);
  plan.passing_of[0] = slots.take(network.nodes[0].out.elements());
  for (std::size_t u = 0; u < plan.units.size(); ++u) {
    const Unit& unit = plan.units[u];
    plan.passing_of[unit.end] = slots.take(network.nodes[unit.end].out.elements());
    for (const std::size_t input : unit.inputs)
      if (input != NetworkPlan::none && last_use[input] == u)
        slots.give_back(plan.passing_of[input]);
  }
}

void place_gradients(const NeuralNetwork& network, NetworkPlan& plan) {
  plan.gradient_of.assign(network.nodes.size(), NetworkPlan::none);
  Slots slots(plan.gradients);
  for (Unit& unit : plan.units | std::views::reverse) {
    const std::size_t own = plan.gradient_of[unit.end];
    const bool last = unit.end + 1 == network.nodes.size();
    GV_CHECK(last || own != NetworkPlan::none, "every node is used");
    bool passed_on = false;  // the gradient by a sum is also that by its addend
    for (const std::size_t k : {std::size_t{1}, std::size_t{0}}) {
      const std::size_t input = unit.inputs[k];
      if (input == NetworkPlan::none || input == 0) continue;
      std::size_t& slot = plan.gradient_of[input];
      unit.adds[k] = slot != NetworkPlan::none;
      if (unit.adds[k]) continue;
      const bool addend = network.nodes[unit.head].op == Op::add || (unit.residual && k == 1);
      if (addend && !last && !passed_on) {
        slot = own;
        passed_on = true;
      } else {
        slot = slots.take(network.nodes[input].out.elements());
      }
    }
    if (!last && !passed_on) slots.give_back(own);
  }
}

}  // namespace

NetworkPlan plan_network(const NeuralNetwork& network) {
  NetworkPlan plan;
  plan.units = Joiner(network).units();
  place_values(network, plan);
  place_passing(network, plan);
  place_gradients(network, plan);
  return plan;
}

}  // namespace gv::gpu
