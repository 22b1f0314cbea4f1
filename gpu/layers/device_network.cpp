#include "gpu/layers/device_network.h"

#include <algorithm>

#include "optim/check.h"

namespace gv::gpu {

std::unique_ptr<Layer> make_layer(const LayerPlan& plan) {
  switch (plan.node.op) {
    case Op::input:
      return nullptr;
    case Op::linear:
      return make_linear(plan);
    case Op::convolution:
      return make_convolution(plan);
    case Op::relu:
    case Op::gelu:
    case Op::add:
      return make_elementwise(plan);
    case Op::max_pool:
    case Op::average_pool:
    case Op::shortcut:
      return make_pool(plan);
    case Op::batch_norm:
    case Op::group_norm:
    case Op::layer_norm:
      return make_norm(plan);
    case Op::embedding:
      return make_embedding(plan);
    case Op::attention:
      return make_attention(plan);
  }
  GV_CHECK(false, "an op of optim/models/network_builder.h");
  return nullptr;
}

DeviceNetwork::DeviceNetwork(const NeuralNetwork& network,
                             std::uint32_t batch,
                             std::vector<std::uint32_t> row_counts,
                             DeviceContext& context)
    : network_(network), plan_(plan_network(network_)), batch_(batch), context_(context) {
  row_counts.push_back(batch);
  most_rows_ = std::ranges::max(row_counts);
  if (network_.vocabulary > 0)
    tokens_ = {std::size_t{most_rows_} * network_.input().positions, "tokens"};
  GV_CHECK(plan_.passing.size() <= plan_.values.size(), "what passes by has room in what is kept");
  plan_.passing.resize(plan_.values.size());
  for (std::size_t slot = 0; slot < plan_.values.size(); ++slot)
    values_.emplace_back(std::max(plan_.values[slot] * batch_, plan_.passing[slot] * most_rows_),
                         "activations");
  for (const std::size_t floats : plan_.gradients)
    gradients_.emplace_back(floats * batch_, "gradients by activations");
  for (const Unit& unit : plan_.units)
    layers_.push_back(make_layer({.network = network_,
                                  .node = network_.nodes[unit.head],
                                  .in = network_.nodes[unit.inputs[0]].out,
                                  .row_counts = row_counts,
                                  .most_rows = most_rows_,
                                  .kept_rows = batch_,
                                  .then = unit.then,
                                  .residual = unit.residual,
                                  .context = context_}));
}

bool DeviceNetwork::has_batch_norm() const {
  return std::ranges::any_of(network_.nodes,
                             [](const Node& node) { return node.op == Op::batch_norm; });
}

float* DeviceNetwork::put(Pass all) {
  GV_CHECK(all.rows > 0 && all.rows <= most_rows_, "as many rows as there is room for");
  for (std::size_t u = 0; u < layers_.size(); ++u) layers_[u]->forward(pass(plan_.units[u], all));
  return value(network_.nodes.size() - 1, all.kept);
}

float* DeviceNetwork::forward(const float* x) {
  return put({.context = context_, .rows = batch_, .parameters = x});
}

const float* DeviceNetwork::see(const float* x, std::uint32_t rows, Moments moments) {
  return put(
      {.context = context_, .rows = rows, .moments = moments, .kept = false, .parameters = x});
}

void DeviceNetwork::backward(const float* x, float* g) {
  const Pass all{.context = context_, .rows = batch_, .parameters = x, .gradient = g};
  for (std::size_t u = layers_.size(); u-- > 0;) layers_[u]->backward(pass(plan_.units[u], all));
}

float* DeviceNetwork::gradient(std::size_t node) {
  if (node + 1 == network_.nodes.size()) return value(node, true);
  const std::size_t slot = plan_.gradient_of[node];
  return slot == NetworkPlan::none ? nullptr : gradients_[slot].data();
}

Pass DeviceNetwork::pass(const Unit& unit, Pass all) {
  const auto [first, second] = unit.inputs;
  const bool two = second != Unit::none;
  all.tokens = tokens_.data();
  all.in = value(first, all.kept);
  all.in2 = two ? value(second, all.kept) : nullptr;
  all.out = value(unit.end, all.kept);
  all.before = all.kept && unit.then == Op::gelu ? value(unit.head, true) : nullptr;
  all.d_out = gradient(unit.end);
  all.d_in = gradient(first);
  all.d_in2 = two ? gradient(second) : nullptr;
  all.add = unit.adds[0];
  all.add2 = unit.adds[1];
  return all;
}

}  // namespace gv::gpu
