#include "optim/models/network.h"

#include <algorithm>

namespace gv {
namespace {

/// Multiplications of one row's forward pass.
double multiplies(const NeuralNetwork& network, const Node& node) {
  const auto count = [&](std::size_t parameter) {
    return static_cast<double>(network.tensors[node.parameters[parameter]].count);
  };
  const Shape& out = node.out;
  if (node.op == Op::convolution) return count(0) * out.height * out.width;
  if (node.op == Op::linear) return count(0) * out.positions;
  // Scores and weighted values; the causal half is what is needed.
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

}  // namespace gv
