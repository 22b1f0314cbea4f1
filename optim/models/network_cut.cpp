#include "optim/models/network_cut.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <stdexcept>

#include "optim/check.h"

namespace gv {
namespace {

bool used_behind(const NeuralNetwork& network, std::uint32_t node) {
  return std::any_of(network.nodes.begin() + node + 1, network.nodes.end(), [&](const Node& other) {
    return std::ranges::find(other.inputs, node) != other.inputs.end();
  });
}

/// Returns whether a later batch or group norm has an input with the layout of the node's value: an
/// operation with weights chooses a layout, one without takes that of its first input.
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

/// The place before a module, after the preceding module.
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

[[noreturn]] void refuse(const std::string& what) {
  throw std::invalid_argument(what);
}

std::string quoted(const std::string& name) {
  return "`" + name + "`";
}

/// Returns the name of the nearest place by `distance`, the earlier of two.
template <class Distance>
std::string nearest(const std::vector<Cut>& all, Distance distance) {
  return quoted(std::ranges::min_element(all, {}, distance)->name);
}

/// Counts the equal letters of two names at both ends.
std::ptrdiff_t likeness(const std::string& a, const std::string& b) {
  const auto head = std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin();
  const auto tail = std::mismatch(a.rbegin(), a.rend(), b.rbegin(), b.rend()).first - a.rbegin();
  return head + tail;
}

[[noreturn]] void refuse_place(const NeuralNetwork& network,
                               const std::vector<Cut>& all,
                               const std::string& name) {
  if (all.empty()) refuse("the network has no place for a cut; take one stage");
  const std::vector<Module> modules = modules_of(network);
  const auto module = std::ranges::find(modules, name, &Module::name);
  if (module == modules.end()) {
    const auto unlike = [&](const Cut& cut) { return -likeness(name, cut.name); };
    const std::string likest = nearest(all, unlike);
    refuse("the network has no module " + quoted(name) + "; take " + likest);
  }
  const auto nodes_away = [&](const Cut& cut) {
    const std::int64_t apart = std::int64_t{cut.node} + 1 - std::int64_t{module->node};
    return apart < 0 ? -apart : apart;
  };
  const std::string taken = nearest(all, nodes_away);
  const std::uint32_t values = values_behind(network)[module->node - 1];
  if (values > 1)
    refuse("no stage begins with " + quoted(name) + ": " +
           (values == 2 ? "two" : std::to_string(values)) + " values cross there; take " + taken);
  refuse("no stage begins with " + quoted(name) +
         ": a batch or group norm stays with the layer before it; take " + taken);
}

/// Returns their names in the order of the network, separated by commas.
std::string in_order(std::vector<Cut> cuts) {
  std::ranges::sort(cuts, {}, &Cut::node);
  std::string text;
  for (const Cut& cut : cuts) text += ", " + cut.name;
  return text;
}

/// Returns the ends of stages over the pieces of `flops` that minimize the largest stage's sum.
std::vector<std::size_t> smallest_largest(const std::vector<double>& flops, std::uint32_t stages) {
  const std::size_t n = flops.size();
  std::vector<double> before(n + 1);
  for (std::size_t k = 0; k < n; ++k) before[k + 1] = before[k] + flops[k];
  std::vector<double> best = before;  // for the first pieces in one stage; then in two, ...
  std::vector<std::vector<std::size_t>> from(stages, std::vector<std::size_t>(n + 1));
  for (std::size_t s = 1; s < stages; ++s) {
    std::vector<double> next(n + 1, std::numeric_limits<double>::infinity());
    for (std::size_t end = s + 1; end <= n; ++end) {
      for (std::size_t i = s; i < end; ++i) {
        const double largest = std::max(best[i], before[end] - before[i]);
        if (largest >= next[end]) continue;
        next[end] = largest;
        from[s][end] = i;
      }
    }
    best = std::move(next);
  }
  std::vector<std::size_t> ends(stages - 1);
  std::size_t end = n;
  for (std::size_t s = stages; s-- > 1;) ends[s - 1] = end = from[s][end];
  return ends;
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

bool is_divisible(const Part& part) {
  const std::vector<Node>& nodes = part.network.nodes;
  if (part.last || nodes.size() < 2 || nodes[1].op != Op::linear || nodes[1].out.positions != 1)
    return false;
  return std::all_of(nodes.begin() + 2, nodes.end(),
                     [](const Node& node) { return node.op == Op::relu || node.op == Op::gelu; });
}

std::uint32_t rows_of(const Part& part) {
  GV_CHECK(is_divisible(part), "a linear layer");
  return part.network.nodes[1].out.channels;
}

MemberPart part_of_member(const Part& whole, std::uint32_t member, std::uint32_t members) {
  GV_CHECK(member < members, "a member");
  MemberPart own{.part = whole, .ranges = {}, .divided = members > 1 && is_divisible(whole)};
  if (own.divided) GV_CHECK_EQUAL(rows_of(whole) % members, 0U, "as many rows for each member");
  const std::uint32_t parts = own.divided ? members : 1;
  std::size_t offset = 0;
  for (Tensor& tensor : own.part.network.tensors) {
    const std::size_t begin = whole.range.begin + tensor.offset;
    tensor.count /= parts;
    tensor.parameter.shape.front() /= parts;
    own.ranges.push_back({begin + (own.divided ? member * tensor.count : 0), tensor.count});
    tensor.offset = offset;
    offset += tensor.count;
  }
  for (std::size_t k = 1; own.divided && k < own.part.network.nodes.size(); ++k)
    own.part.network.nodes[k].out.channels /= parts;
  own.part.range.count = offset;
  if (!whole.last) own.part.floats_out = own.part.network.nodes.back().out.elements();
  return own;
}

std::vector<Cut> cuts_before(const NeuralNetwork& network, const std::vector<std::string>& stages) {
  const std::string first = modules_of(network).front().name;
  if (stages.empty() || stages.front() != first)
    refuse("the first stage begins with the network's first module; take " + quoted(first));
  const std::vector<Cut> all = places(network);
  std::vector<Cut> cuts;
  for (const std::string& name : std::span(stages).subspan(1)) {
    if (name == first || std::ranges::find(cuts, name, &Cut::name) != cuts.end())
      refuse(quoted(name) + " begins two stages; name it once");
    const auto cut = std::ranges::find(all, name, &Cut::name);
    if (cut == all.end()) refuse_place(network, all, name);
    cuts.push_back(*cut);
  }
  if (!std::ranges::is_sorted(cuts, {}, &Cut::node))
    refuse("stages in another order than the network's; take [" + first + in_order(cuts) + "]");
  return cuts;
}

std::vector<Cut> equal_cuts(const NeuralNetwork& network, std::uint32_t stages) {
  const std::vector<Cut> all = places(network);
  const std::size_t count = all.size();
  if (stages == 0 || stages > count + 1)
    refuse(std::to_string(stages) + " stages of a network that may be cut at " +
           std::to_string(count) + " places; take 1 to " + std::to_string(count + 1));
  std::vector<double> flops;
  for (std::uint32_t piece = 0; piece <= all.size(); ++piece)
    flops.push_back(part(network, all, piece).network.gradient_flops(1));
  std::vector<Cut> cuts;
  for (const std::size_t end : smallest_largest(flops, stages)) cuts.push_back(all[end - 1]);
  return cuts;
}

}  // namespace gv
