#include "optim/models/hidden_matrices.h"

#include <algorithm>

namespace gv {
namespace {

/// Says of each node whether its value depends on a parameter. What does not is the input, padded
/// or pooled.
std::vector<bool> learnt(const NeuralNetwork& network) {
  std::vector<bool> depends;
  for (const Node& node : network.nodes)
    depends.push_back(
        !node.parameters.empty() ||
        std::ranges::any_of(node.inputs, [&](std::uint32_t x) { return depends[x]; }));
  return depends;
}

/// Returns into how many maps the rows of a node's weight are cut.
std::uint32_t maps_of(const NeuralNetwork& network, std::uint32_t number) {
  const bool attended = std::ranges::any_of(network.nodes, [&](const Node& node) {
    return node.op == Op::attention && node.inputs.front() == number;
  });
  return attended ? 3 : 1;
}

}  // namespace

std::vector<HiddenMatrix> hidden_matrices(const NeuralNetwork& network) {
  const std::vector<bool> depends = learnt(network);
  std::vector<HiddenMatrix> matrices;
  for (std::uint32_t k = 0; k + 1 < network.nodes.size(); ++k) {
    const Node& node = network.nodes[k];
    const bool maps = node.op == Op::linear || node.op == Op::convolution;
    if (!maps || !depends[node.inputs.front()]) continue;
    const Tensor& weight = network.tensors[node.parameters.front()];
    const std::uint32_t parts = maps_of(network, k);
    const std::uint32_t rows = weight.parameter.shape.front() / parts;
    const auto columns = static_cast<std::uint32_t>(weight.count / weight.parameter.shape.front());
    if (rows < 2 || columns < 2) continue;  // a vector
    for (std::uint32_t part = 0; part < parts; ++part)
      matrices.push_back({weight.offset + std::size_t{part} * rows * columns, rows, columns});
  }
  std::ranges::sort(matrices, {}, &HiddenMatrix::offset);
  return matrices;
}

std::vector<HiddenMatrix> hidden_matrices(const ModelSpec& model, const Dataset& data) {
  if (model_for(model, data).network == nullptr) return {};
  return hidden_matrices(make_network(model, data));
}

}  // namespace gv
