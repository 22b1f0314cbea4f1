#include "optim/host/host_network.h"

#include <algorithm>

#include "optim/check.h"

namespace gv {

HostNetwork::HostNetwork(const NeuralNetwork& network,
                         std::uint32_t rows,
                         bool training,
                         NetworkEnds ends)
    : network_(network),
      rows_(rows),
      training_(training),
      ends_(ends),
      layers_(network.nodes.size()),
      values_(network.nodes.size()),
      users_(network.nodes.size()) {
  GV_CHECK(rows > 0, "a batch of at least one row");
  const auto n = static_cast<std::uint32_t>(network_.nodes.size());
  std::size_t norms = 0;
  for (std::uint32_t node = 0; node < n; ++node) {
    for (const std::uint32_t input : network_.nodes[node].inputs) users_[input].push_back(node);
    norms += network_.nodes[node].op == Op::batch_norm ? 1 : 0;
  }
  moments_.reserve(norms);  // layers point into it
  make_layers();
  if (ends.gradient_out) prepare_outer_end();
  if (training) prepare_backward();
  values_.clear();
}

std::span<float> HostNetwork::inputs() {
  GV_CHECK(network_.vocabulary == 0, "a network of floats, not of tokens");
  return {floats(input_), float_count(input_)};
}

std::span<float> HostNetwork::logits() {
  return {floats(logits_), float_count(logits_)};
}

std::span<const float> HostNetwork::outputs() const {
  GV_CHECK(ends_.gradient_out, "a value that continues");
  return {floats(output_.tensor()), float_count(output_.tensor())};
}

std::span<float> HostNetwork::output_gradients() {
  GV_CHECK(ends_.gradient_out, "a value that continues");
  return {floats(output_gradient_.tensor), float_count(output_gradient_.tensor)};
}

std::span<const float> HostNetwork::input_gradients() const {
  GV_CHECK(ends_.gradient_in, "an input that something before computes");
  return {floats(input_gradient_.tensor()), float_count(input_gradient_.tensor())};
}

void HostNetwork::forward(std::span<const float> x, Moments moments) {
  for (const LayerPointer& layer : layers_)
    if (layer) layer->forward(x, moments);
  output_.run();
}

void HostNetwork::backward(std::span<const float> x, std::span<float> g) {
  GV_CHECK(training_, "a network made for training");
  outer_.run();
  for (std::size_t node = layers_.size(); node-- > 0;)
    if (layers_[node]) layers_[node]->backward(x, g);
  if (ends_.gradient_in) input_gradient_.gather();
}

/// Returns whether the node's layer also computes its only consumer, a ReLU.
bool HostNetwork::takes_relu(std::uint32_t node) const {
  if (users_[node].size() != 1 || network_.nodes[users_[node][0]].op != Op::relu) return false;
  const Node& n = network_.nodes[node];
  if (n.op == Op::linear) return n.parameters.size() > 1;
  return n.op == Op::convolution || n.op == Op::batch_norm || n.op == Op::group_norm ||
         n.op == Op::add;
}

void HostNetwork::make_layers() {
  const Shape& in = network_.input();
  if (network_.vocabulary > 0) {
    tokens_.resize(rows_ * in.elements());
  } else {
    const bool picture = in.height * in.width > 1;
    values_[0] = memory_.lend(picture ? picture_of(rows_, in) : matrix_of(rows_, in));
    input_ = values_[0].tensor;
  }
  std::vector<std::size_t> uses_left(values_.size());
  for (std::size_t node = 0; node < users_.size(); ++node) uses_left[node] = users_[node].size();
  const Lease kept_input = values_[0];  // filled from outside
  for (std::uint32_t node = 1; node < values_.size(); ++node) {
    make_layer(node);
    if (training_) continue;
    for (const std::uint32_t input : network_.nodes[node].inputs)
      if (--uses_left[input] == 0) values_[input].hold.reset();
  }
  logits_ = values_.back().tensor;
}

void HostNetwork::make_layer(std::uint32_t node) {
  const Node& n = network_.nodes[node];
  if (n.op == Op::relu && takes_relu(n.inputs[0])) {
    values_[node] = values_[n.inputs[0]];
    return;
  }
  LayerPlace place{.memory = memory_,
                   .network = network_,
                   .node = n,
                   .rows = rows_,
                   .relu = takes_relu(node),
                   .training = training_};
  for (const std::uint32_t input : n.inputs) place.inputs.push_back(values_[input]);
  if (n.op == Op::batch_norm) {
    moments_.push_back({std::vector<float>(n.out.channels), std::vector<float>(n.out.channels, 1)});
    place.given = &moments_.back();
  }
  layers_[node] = layer_of(place);
  values_[node] = layers_[node]->hand_over();
}

LayerPointer HostNetwork::layer_of(const LayerPlace& place) {
  switch (place.node.op) {
    case Op::convolution:
      return make_host_convolution(place);
    case Op::linear:
      return make_host_linear(place);
    case Op::relu:
    case Op::gelu:
      return make_host_activation(place);
    case Op::max_pool:
      return make_host_max_pool(place);
    case Op::average_pool:
      return make_host_average_pool(place);
    case Op::batch_norm:
    case Op::group_norm:
      return make_host_picture_norm(place);
    case Op::layer_norm:
      return make_host_layer_norm(place);
    case Op::add:
      return make_host_add(place);
    case Op::shortcut:
      return make_host_shortcut(place);
    case Op::embedding:
      return make_host_embedding(place, tokens_);
    case Op::attention:
      return make_host_attention(place);
    case Op::input:
      break;
  }
  GV_CHECK(false, "an operation with a layer");
  return nullptr;
}

/// Makes the values at the end plain, so that all parts of a network use the same layout.
void HostNetwork::prepare_outer_end() {
  const dnnl::memory& value = values_.back().tensor;
  const Shape& out = network_.nodes.back().out;
  const bool picture = value.get_desc().data.ndims == 4;
  const dnnl::memory::desc plain = picture ? picture_of(rows_, out) : matrix_of(rows_, out);
  output_ = Conversion::of(memory_, value, plain);
  output_gradient_ = memory_.lend(plain);
  outer_ = Conversion::of(memory_, output_gradient_.tensor, value.get_desc());
}

void HostNetwork::prepare_backward() {
  const std::size_t n = layers_.size();
  std::vector<bool> learns(n);  // or a node before it learns
  learns[0] = ends_.gradient_in;
  for (std::size_t node = 1; node < n; ++node) {
    learns[node] = !network_.nodes[node].parameters.empty();
    for (const std::uint32_t input : network_.nodes[node].inputs)
      if (learns[input]) learns[node] = true;
  }
  std::vector<std::vector<Lease>> parts(n);  // parts of the gradient by each node's value
  parts.back() = {{ends_.gradient_out ? outer_.tensor() : logits_, nullptr}};
  for (std::size_t node = n; node-- > 1;) {
    const std::vector<std::uint32_t>& inputs = network_.nodes[node].inputs;
    if (!layers_[node]) {
      parts[inputs[0]] = std::move(parts[node]);
      continue;
    }
    const bool wanted = std::ranges::any_of(inputs, [&](auto input) { return learns[input]; });
    GV_CHECK(learns[node], "an operation with something to learn at or before it");
    const std::vector<Lease> results = layers_[node]->prepare_backward(parts[node], wanted);
    for (std::size_t k = 0; k < results.size(); ++k)
      if (learns[inputs[k]]) parts[inputs[k]].push_back(results[k]);
    parts[node].clear();
  }
  if (ends_.gradient_in)
    input_gradient_ = IncomingGradient(memory_, parts[0], values_[0].tensor, false);
}

}  // namespace gv
