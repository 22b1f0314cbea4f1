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
  GV_CHECK(false, "an op of optim/models/network.h");
  return nullptr;
}

DeviceNetwork::DeviceNetwork(const NeuralNetwork& network,
                             std::vector<std::uint32_t> row_counts,
                             DeviceContext& context)
    : network_(network),
      plan_(plan_network(network_)),
      most_rows_(std::ranges::max(row_counts)),
      context_(context) {
  if (network_.vocabulary > 0)
    tokens_ = {std::size_t{most_rows_} * network_.input().positions, "tokens"};
  for (const std::size_t floats : plan_.values)
    values_.emplace_back(floats * most_rows_, "activations");
  for (const std::size_t floats : plan_.gradients)
    gradients_.emplace_back(floats * most_rows_, "gradients by activations");
  for (std::size_t i = 0; i < network_.nodes.size(); ++i) {
    const Node& node = network_.nodes[i];
    layers_.push_back(make_layer({.network = network_,
                                  .node = node,
                                  .in = i == 0 ? node.out : network_.nodes[node.inputs[0]].out,
                                  .row_counts = row_counts,
                                  .most_rows = most_rows_,
                                  .in_place = plan_.in_place[i],
                                  .relu_follows = plan_.fused[i],
                                  .context = context_}));
  }
}

bool DeviceNetwork::has_batch_norm() const {
  return std::ranges::any_of(network_.nodes,
                             [](const Node& node) { return node.op == Op::batch_norm; });
}

void DeviceNetwork::forward(const float* x, std::uint32_t rows, Moments moments) {
  GV_CHECK(rows > 0 && rows <= most_rows_, "as many rows as there is room for");
  for (std::size_t i = 1; i < layers_.size(); ++i) {
    Pass one = pass(i, x, nullptr, rows);
    one.moments = moments;
    layers_[i]->forward(one);
  }
}

void DeviceNetwork::backward(const float* x, float* g, std::uint32_t rows) {
  for (std::size_t i = layers_.size(); i-- > 1;) layers_[i]->backward(pass(i, x, g, rows));
}

float* DeviceNetwork::gradient(std::size_t node) {
  if (node + 1 == network_.nodes.size()) return logits();
  const std::size_t slot = plan_.gradient_of[node];
  return slot == NetworkPlan::none ? nullptr : gradients_[slot].data();
}

Pass DeviceNetwork::pass(std::size_t i, const float* x, float* g, std::uint32_t rows) {
  const Node& node = network_.nodes[i];
  const std::size_t first = node.inputs[0];
  const bool two = node.inputs.size() > 1;
  return {.context = context_,
          .rows = rows,
          .parameters = x,
          .gradient = g,
          .tokens = tokens_.data(),
          .in = value(first),
          .in2 = two ? value(node.inputs[1]) : nullptr,
          .out = value(i),
          .d_out = gradient(i),
          .d_in = gradient(first),
          .d_in2 = two ? gradient(node.inputs[1]) : nullptr,
          .add = plan_.adds[i][0],
          .add2 = plan_.adds[i][1]};
}

}  // namespace gv::gpu
