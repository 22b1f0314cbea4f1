#include "optim/models/network_cut.h"

#include <algorithm>
#include <optional>

#include "optim/check.h"

namespace gv {
namespace {

bool used_behind(const NeuralNetwork& network, std::uint32_t node) {
  return std::any_of(network.nodes.begin() + node + 1, network.nodes.end(), [&](const Node& other) {
    return std::ranges::find(other.inputs, node) != other.inputs.end();
  });
}

/// Returns whether a batch or group norm behind the node has an input that lies as the node's value
/// does: what has weights chooses a layout, and what has none takes that of its first input.
bool norm_sees_layout_of(const NeuralNetwork& network, std::uint32_t node) {
  std::vector<bool> alike(network.nodes.size());
  alike[node] = true;
  for (std::size_t k = node + 1; k < network.nodes.size(); ++k) {
    const Node& other = network.nodes[k];
    if (!alike[other.inputs[0]]) continue;
    if (other.op == Op::batch_norm || other.op == Op::group_norm) return true;
    alike[k] = other.parameters.empty() && other.op != Op::average_pool;
  }
  return false;
}

/// The place before a module, behind the module before it.
std::optional<Cut> place_before(const NeuralNetwork& network,
                                const std::vector<std::uint32_t>& alive,
                                const std::vector<Module>& modules,
                                std::size_t module) {
  for (std::uint32_t node = modules[module].node; node-- > modules[module - 1].node;) {
    if (alive[node] != 1 || !used_behind(network, node)) continue;
    if (norm_sees_layout_of(network, node)) return std::nullopt;
    return Cut{node, modules[module].name};
  }
  return std::nullopt;
}

}  // namespace

std::vector<Module> modules_of(const NeuralNetwork& network) {
  std::vector<Module> list;
  for (std::uint32_t node = 0; node < network.nodes.size(); ++node) {
    const std::vector<std::uint32_t>& own = network.nodes[node].parameters;
    if (own.empty()) continue;
    const std::string& name = network.tensors[own.front()].parameter.name;
    list.push_back({name.substr(0, name.rfind('.')), node});
  }
  return list;
}

std::vector<std::uint32_t> values_behind(const NeuralNetwork& network) {
  const std::size_t n = network.nodes.size();
  std::vector<std::uint32_t> last_use(n);
  for (std::uint32_t node = 0; node < n; ++node)
    for (const std::uint32_t input : network.nodes[node].inputs) last_use[input] = node;
  std::vector<std::uint32_t> ended(n);
  for (std::uint32_t node = 0; node < n; ++node) ++ended[std::max(node, last_use[node])];
  std::vector<std::uint32_t> alive(n);
  std::uint32_t now = 0;
  for (std::size_t node = 0; node < n; ++node) alive[node] = now = now + 1 - ended[node];
  return alive;
}

std::vector<Cut> places(const NeuralNetwork& network) {
  const std::vector<Module> modules = modules_of(network);
  const std::vector<std::uint32_t> alive = values_behind(network);
  std::vector<Cut> list;
  for (std::size_t k = 1; k < modules.size(); ++k)
    if (auto place = place_before(network, alive, modules, k)) list.push_back(std::move(*place));
  return list;
}

Part part(const NeuralNetwork& network, std::span<const Cut> cuts, std::uint32_t stage) {
  GV_CHECK(stage <= cuts.size(), "a stage between two cuts");
  Part part;
  part.first = stage == 0;
  part.last = stage == cuts.size();
  const std::uint32_t begin = part.first ? 0 : cuts[stage - 1].node;
  const auto end =
      part.last ? static_cast<std::uint32_t>(network.nodes.size() - 1) : cuts[stage].node;
  GV_CHECK(begin < end && end < network.nodes.size(), "cuts in the order of the network");
  NeuralNetwork& own = part.network;
  own.nodes.push_back({.op = Op::input, .out = network.nodes[begin].out});
  for (std::uint32_t k = begin + 1; k <= end; ++k) {
    Node node = network.nodes[k];
    for (std::uint32_t& input : node.inputs) {
      GV_CHECK(input >= begin, "one value crosses a cut");
      input -= begin;
    }
    for (std::uint32_t& parameter : node.parameters) {
      Tensor tensor = network.tensors[parameter];
      if (own.tensors.empty()) part.range.begin = tensor.offset;
      GV_CHECK_EQUAL(tensor.offset, part.range.begin + own.size(), "tensors lie as nodes do");
      tensor.offset -= part.range.begin;
      parameter = static_cast<std::uint32_t>(own.tensors.size());
      own.tensors.push_back(std::move(tensor));
    }
    own.nodes.push_back(std::move(node));
  }
  part.range.count = own.size();
  if (part.first) own.vocabulary = network.vocabulary;
  if (part.last) own.classes = network.classes;
  if (!part.first) part.floats_in = own.input().elements();
  if (!part.last) part.floats_out = own.nodes.back().out.elements();
  return part;
}

void initialize(const NeuralNetwork& network, Range range, std::span<float> x, Rng rng) {
  GV_CHECK_EQUAL(x.size(), range.count, "room for the range");
  std::vector<float> elsewhere;
  for (const Tensor& tensor : network.tensors) {
    if (tensor.offset >= range.begin + range.count) return;
    if (tensor.offset + tensor.count <= range.begin) {
      elsewhere.resize(tensor.count);
      tensor.start(elsewhere, rng);
      continue;
    }
    const bool whole =
        tensor.offset >= range.begin && tensor.offset + tensor.count <= range.begin + range.count;
    GV_CHECK(whole, "a tensor on one side of each border");
    tensor.start(x.subspan(tensor.offset - range.begin, tensor.count), rng);
  }
}

}  // namespace gv
