#include "optim/models/stage_cuts.h"

#include <algorithm>
#include <limits>
#include <stdexcept>

namespace gv {
namespace {

[[noreturn]] void refuse(const std::string& what) {
  throw std::invalid_argument(what);
}

std::string quoted(const std::string& name) {
  return "`" + name + "`";
}

/// The one that is nearest by `distance`, the earlier of two.
template <class Distance>
std::string nearest(const std::vector<Cut>& all, Distance distance) {
  return quoted(std::ranges::min_element(all, {}, distance)->name);
}

/// Counts the letters that two names have alike at both ends.
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

/// Names them in the order of the network, separated by commas.
std::string in_order(std::vector<Cut> cuts) {
  std::ranges::sort(cuts, {}, &Cut::node);
  std::string text;
  for (const Cut& cut : cuts) text += ", " + cut.name;
  return text;
}

/// Says where pieces [0, i) of `flops` end, so that the largest of so many sums is the smallest.
std::vector<std::size_t> smallest_largest(const std::vector<double>& flops, std::uint32_t stages) {
  const std::size_t n = flops.size();
  std::vector<double> before(n + 1);
  for (std::size_t k = 0; k < n; ++k) before[k + 1] = before[k] + flops[k];
  std::vector<double> best = before;  // of the first pieces in one stage; then in two, ...
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
