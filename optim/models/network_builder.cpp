#include "optim/models/network_builder.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "optim/check.h"

namespace gv {
namespace {

/// Number of multiplications in one row's forward pass.
double multiplies(const NeuralNetwork& network, const Node& node) {
  const auto count = [&](std::size_t parameter) {
    return static_cast<double>(network.tensors[node.parameters[parameter]].count);
  };
  const Shape& out = node.out;
  if (node.op == Op::convolution) return count(0) * out.height * out.width;
  if (node.op == Op::linear) return count(0) * out.positions;
  // Scores and weighted values; only the causal half is needed.
  if (node.op == Op::attention) return 1.0 * out.positions * out.positions * out.channels;
  return 0;
}

}  // namespace

void Tensor::start(std::span<float> values, Rng& rng) const {
  std::ranges::fill(values, constant);
  if (deviation == 0) return;
  rng.fill_normal(values);
  for (float& value : values) value = constant + deviation * value;
}

std::size_t NeuralNetwork::size() const {
  return tensors.empty() ? 0 : tensors.back().offset + tensors.back().count;
}

std::vector<Parameter> NeuralNetwork::parameters() const {
  std::vector<Parameter> list;
  for (const Tensor& tensor : tensors) list.push_back(tensor.parameter);
  return list;
}

void NeuralNetwork::initialize(std::span<float> x, Rng rng) const {
  for (const Tensor& tensor : tensors) tensor.start(x.subspan(tensor.offset, tensor.count), rng);
}

double NeuralNetwork::gradient_flops(std::uint32_t batch) const {
  double total = 0;
  for (const Node& node : nodes) total += multiplies(*this, node);
  return 6 * total * batch;
}

NetworkBuilder::NetworkBuilder(const Shape& input,
                               std::uint32_t classes,
                               std::uint32_t vocabulary) {
  network_.classes = classes;
  network_.vocabulary = vocabulary;
  append({.op = Op::input, .out = input});
}

std::uint32_t NetworkBuilder::convolution(
    std::uint32_t x, const std::string& name, std::uint32_t channels, Window window, bool bias) {
  const Shape in = out(x);
  const auto [kernel, stride, padding] = window;
  GV_CHECK(in.height + 2 * padding >= kernel && in.width + 2 * padding >= kernel,
           "a window inside the picture");
  Node node{.op = Op::convolution,
            .inputs = {x},
            .out = {.channels = channels,
                    .height = (in.height + 2 * padding - kernel) / stride + 1,
                    .width = (in.width + 2 * padding - kernel) / stride + 1},
            .kernel = kernel,
            .stride = stride,
            .padding = padding};
  const float deviation = deviation_of(std::size_t{in.channels} * kernel * kernel);
  node.parameters.push_back(
      tensor(name + ".weight", {channels, in.channels, kernel, kernel}, 0, deviation));
  if (bias) node.parameters.push_back(tensor(name + ".bias", {channels}, 0, 0));
  return append(std::move(node));
}

std::uint32_t NetworkBuilder::linear(std::uint32_t x,
                                     const std::string& name,
                                     std::uint32_t width,
                                     bool bias) {
  const Shape in = out(x);
  const auto fan_in = static_cast<std::uint32_t>(in.elements() / in.positions);
  Node node{.op = Op::linear, .inputs = {x}, .out = {.positions = in.positions, .channels = width}};
  node.parameters.push_back(tensor(name + ".weight", {width, fan_in}, 0, deviation_of(fan_in)));
  if (bias) node.parameters.push_back(tensor(name + ".bias", {width}, 0, 0));
  return append(std::move(node));
}

std::uint32_t NetworkBuilder::max_pool(std::uint32_t x, Window window) {
  const Shape in = out(x);
  GV_CHECK(in.height >= window.kernel && in.width >= window.kernel, "a window inside the picture");
  GV_CHECK(window.padding == 0, "pooling windows lie inside");
  return append({.op = Op::max_pool,
                 .inputs = {x},
                 .out = {.channels = in.channels,
                         .height = (in.height - window.kernel) / window.stride + 1,
                         .width = (in.width - window.kernel) / window.stride + 1},
                 .kernel = window.kernel,
                 .stride = window.stride});
}

std::uint32_t NetworkBuilder::average_pool(std::uint32_t x) {
  return append({.op = Op::average_pool, .inputs = {x}, .out = {.channels = out(x).channels}});
}

std::uint32_t NetworkBuilder::norm(Op op,
                                   std::uint32_t x,
                                   const std::string& name,
                                   std::uint32_t groups) {
  const std::uint32_t channels = out(x).channels;
  GV_CHECK(groups > 0 && channels % groups == 0, "groups of equally many channels");
  Node node{.op = op, .inputs = {x}, .out = out(x), .groups = groups};
  node.parameters.push_back(tensor(name + ".weight", {channels}, 1, 0));
  node.parameters.push_back(tensor(name + ".bias", {channels}, 0, 0));
  return append(std::move(node));
}

std::uint32_t NetworkBuilder::shortcut(std::uint32_t x,
                                       std::uint32_t channels,
                                       std::uint32_t stride) {
  const Shape in = out(x);
  GV_CHECK(channels >= in.channels && (channels - in.channels) % 2 == 0,
           "as many channels of zeros before as after");
  return append({.op = Op::shortcut,
                 .inputs = {x},
                 .out = {.channels = channels,
                         .height = (in.height + stride - 1) / stride,
                         .width = (in.width + stride - 1) / stride},
                 .stride = stride});
}

std::uint32_t NetworkBuilder::embedding(const std::string& token,
                                        const std::string& position,
                                        std::uint32_t width) {
  const std::uint32_t positions = out(0).positions;
  Node node{.op = Op::embedding, .inputs = {0}, .out = {.positions = positions, .channels = width}};
  node.parameters.push_back(
      tensor(token + ".weight", {network_.vocabulary, width}, 0, deviation_of(width)));
  node.parameters.push_back(
      tensor(position + ".weight", {positions, width}, 0, deviation_of(width)));
  return append(std::move(node));
}

std::uint32_t NetworkBuilder::attention(std::uint32_t qkv, std::uint32_t heads) {
  const Shape in = out(qkv);
  GV_CHECK(in.channels % (3 * heads) == 0, "queries, keys and values of whole heads");
  return append({.op = Op::attention,
                 .inputs = {qkv},
                 .out = {.positions = in.positions, .channels = in.channels / 3},
                 .heads = heads});
}

NeuralNetwork NetworkBuilder::build() {
  const Shape& logits = network_.nodes.back().out;
  GV_CHECK_EQUAL(logits.channels, network_.classes, "a logit for each class");
  GV_CHECK(logits.height == 1 && logits.width == 1, "logits are no picture");
  return std::move(network_);
}

std::uint32_t NetworkBuilder::append(Node node) {
  network_.nodes.push_back(std::move(node));
  return static_cast<std::uint32_t>(network_.nodes.size() - 1);
}

std::uint32_t NetworkBuilder::same(Op op, std::vector<std::uint32_t> inputs) {
  const Shape shape = out(inputs.front());
  GV_CHECK(out(inputs.back()) == shape, "inputs of one shape");
  return append({.op = op, .inputs = std::move(inputs), .out = shape});
}

std::uint32_t NetworkBuilder::tensor(const std::string& name,
                                     std::vector<std::uint32_t> shape,
                                     float constant,
                                     float deviation) {
  std::size_t count = 1;
  for (const std::uint32_t extent : shape) count *= extent;
  network_.tensors.push_back(
      {{name, std::move(shape)}, network_.size(), count, constant, deviation});
  return static_cast<std::uint32_t>(network_.tensors.size() - 1);
}

float NetworkBuilder::deviation_of(std::size_t fan_in) const {
  return deviation_ < 0 ? std::sqrt(2.0F / static_cast<float>(fan_in)) : deviation_;
}

}  // namespace gv
