#include <algorithm>
#include <map>
#include <stdexcept>
#include <utility>

#include "graph/schedule/schedule.h"
#include "graph/schedule/sequences.h"

// Takezawa et al. 2023, arXiv:2305.11420: the k-peer hyper-hypercube, from it the simple Base-(k+1)
// graph, and from both the Base-(k+1) graph.

namespace gv {
namespace {

using Peers = std::vector<PeerId>;
using Round = std::map<Edge, double>;  ///< weights off the diagonal
using Rounds = std::vector<Round>;

void connect(Round& round, PeerId u, PeerId v, double weight) {
  round[undirected_edge(u, v)] = weight;
}

/// All peers take the mean of all.
void average(Round& round, const Peers& peers) {
  for (std::size_t a = 0; a < peers.size(); ++a) {
    for (std::size_t b = a + 1; b < peers.size(); ++b)
      connect(round, peers[a], peers[b], 1.0 / static_cast<double>(peers.size()));
  }
}

/// The two rounds must have no peer in common.
void merge(Round& round, const Rounds& rounds, std::size_t m) {
  if (!rounds.empty())
    round.insert(rounds[m % rounds.size()].begin(), rounds[m % rounds.size()].end());
}

/// Returns factors of n from 2 to k + 1, the largest first, and the quotient: 1 if they suffice.
std::pair<Peers, PeerId> small_factors(PeerId n, PeerId k) {
  Peers factors;
  for (PeerId f = std::min(n, k + 1); f >= 2; --f) {
    for (; n % f == 0; n /= f) factors.push_back(f);
  }
  std::ranges::reverse(factors);
  return {factors, n};
}

/// k-peer hyper-hypercube: a peer's index written in mixed radix; round l averages peers that
/// differ in digit l. Needs |peers| to be a product of numbers up to k + 1.
Rounds hyper_hypercube(const Peers& peers, PeerId k) {
  Rounds rounds;
  std::size_t stride = 1;
  for (const PeerId f : small_factors(static_cast<PeerId>(peers.size()), k).first) {
    Round& round = rounds.emplace_back();
    for (std::size_t first = 0; first < peers.size(); ++first) {
      if (first / stride % f != 0) continue;
      Peers group;
      for (PeerId digit = 0; digit < f; ++digit) group.push_back(peers[first + digit * stride]);
      average(round, group);
    }
    stride *= f;
  }
  return rounds;
}

/// V_l of the simple graph: a_l blocks of (k + 1)^{p_l} peers each, a_l <= k.
struct Part {
  std::vector<Peers> blocks;
  Rounds whole;  ///< averages V_l
  /// Averages each block; if blocks are single peers, one entry that averages all of the part.
  std::vector<Rounds> inner;
  Peers peers() const {
    Peers all;
    for (const Peers& block : blocks) all.insert(all.end(), block.begin(), block.end());
    return all;
  }
};

/// n in base k + 1: one part per digit that is not 0, the largest power first.
std::vector<Part> split_by_digits(const Peers& peers, PeerId k) {
  std::size_t power = 1;
  while (power * (k + 1) <= peers.size()) power *= k + 1;
  std::vector<Part> parts;
  auto next = peers.begin();
  for (; power > 0; power /= k + 1) {
    Part part;
    for (; static_cast<std::size_t>(peers.end() - next) >= power;) {
      part.blocks.emplace_back(next, next + static_cast<std::ptrdiff_t>(power));
      part.inner.push_back(hyper_hypercube(part.blocks.back(), k));
      next += static_cast<std::ptrdiff_t>(power);
    }
    if (part.blocks.empty()) continue;
    part.whole = hyper_hypercube(part.peers(), k);
    if (power == 1) part.inner = {part.whole};
    parts.push_back(std::move(part));
  }
  return parts;
}

/// Every peer of the later parts averages with one peer of each block of part s, from the blocks'
/// ends, so that their joint mean becomes the mean of all, as does that of the rest of part s.
void exchange_with(Round& round, const std::vector<Part>& parts, std::size_t s, PeerId k) {
  double total = 0;
  for (std::size_t l = s; l < parts.size(); ++l)
    total += static_cast<double>(parts[l].peers().size());
  const double weight = static_cast<double>(parts[s].blocks[0].size()) / total;
  std::size_t taken = 0;
  for (std::size_t l = s + 1; l < parts.size(); ++l) {
    for (const PeerId i : parts[l].peers()) {
      ++taken;
      for (const Peers& block : parts[s].blocks)
        connect(round, i, block[block.size() - taken], weight);
    }
  }
  // Peers without a partner average among themselves, k + 1 at a time.
  Peers idle;
  for (const Peers& block : parts[s].blocks)
    idle.insert(idle.end(), block.begin(), block.end() - static_cast<std::ptrdiff_t>(taken));
  const std::size_t most = std::size_t{k} + 1;
  for (std::size_t first = 0; first < idle.size(); first += most) {
    const auto begin = idle.begin() + static_cast<std::ptrdiff_t>(first);
    const auto end =
        idle.begin() + static_cast<std::ptrdiff_t>(std::min(idle.size(), first + most));
    average(round, {begin, end});
  }
}

/// The simple Base-(k+1) graph. First every part averages itself; then part 0, 1, ... in turn
/// exchanges with all later ones; a part that has exchanged averages its blocks.
Rounds simple_base(const Peers& peers, PeerId k) {
  if (small_factors(static_cast<PeerId>(peers.size()), k).second == 1)
    return hyper_hypercube(peers, k);
  const std::vector<Part> parts = split_by_digits(peers, k);
  const std::size_t first = parts[0].whole.size();
  Rounds rounds(first + 1 + parts[0].inner[0].size());
  for (std::size_t m = 0; m < rounds.size(); ++m) {
    if (m >= first && m - first + 1 < parts.size()) exchange_with(rounds[m], parts, m - first, k);
    for (std::size_t l = 0; l < parts.size(); ++l) {
      const std::size_t exchanges = std::min(l + 1, parts.size() - 1);  // that part l takes part in
      if (m < first) {
        merge(rounds[m], parts[l].whole, m);
      } else if (m - first >= exchanges) {
        for (const Rounds& inner : parts[l].inner) merge(rounds[m], inner, m - first - exchanges);
      }
    }
  }
  return rounds;
}

/// The Base-(k+1) graph: n = p q with p the part of n that is made of factors up to k + 1. Averages
/// inside p groups of q, then across them; or the simple graph if that is shorter.
Rounds base(const Peers& peers, PeerId k) {
  const Rounds simple = simple_base(peers, k);
  const std::size_t q = small_factors(static_cast<PeerId>(peers.size()), k).second;
  Rounds rounds;
  std::vector<Peers> across(q);
  for (std::size_t first = 0; first < peers.size(); first += q) {
    const auto begin = peers.begin() + static_cast<std::ptrdiff_t>(first);
    const Rounds inside = simple_base({begin, begin + static_cast<std::ptrdiff_t>(q)}, k);
    rounds.resize(inside.size());
    for (std::size_t m = 0; m < inside.size(); ++m) merge(rounds[m], inside, m);
    for (std::size_t j = 0; j < q; ++j) across[j].push_back(peers[first + j]);
  }
  const std::size_t inside = rounds.size();
  for (const Peers& column : across) {
    const Rounds cube = hyper_hypercube(column, k);
    rounds.resize(inside + cube.size());
    for (std::size_t m = 0; m < cube.size(); ++m) merge(rounds[inside + m], cube, m);
  }
  return simple.size() <= rounds.size() ? simple : rounds;
}

MixingMatrix to_matrix(const Round& round, PeerId n) {
  std::vector<Edge> edges;
  for (const auto& [edge, weight] : round) edges.push_back(edge);
  const Topology t = make_topology("base", n, edges);
  return weighted_matrix(t, [&](PeerId i, PeerId j) { return round.at(undirected_edge(i, j)); });
}

constexpr GraphParameter base_parameters[] = {
    count_parameter("k", 1, 1, "maximum number of neighbours per peer and round")};

std::unique_ptr<MixingSchedule> make_base(const ScheduleSpec& spec, PeerId n) {
  return std::make_unique<PeriodicSchedule>(base_graph(n, spec.parameters.count("k")));
}

SearchGroups search_degrees(const SearchScope& scope) {
  SearchGroups groups;
  for (PeerId k = 1; k <= std::min<PeerId>(scope.max_degree, 8); ++k)
    groups.push_back({"k=" + std::to_string(k)});
  return groups;
}

}  // namespace

extern constinit const ScheduleFamily base_family{
    .name = "base",
    .summary = "Base-(k+1): at most K neighbours, exact after a period; arXiv:2305.11420",
    .parameters = base_parameters,
    .example = "k=2",
    .make = make_base,
    .searched = search_degrees,
};

std::vector<MixingMatrix> base_graph(PeerId n, PeerId k) {
  if (k == 0) throw std::invalid_argument("base: k must be at least 1");
  Peers peers(n);
  for (PeerId i = 0; i < n; ++i) peers[i] = i;
  std::vector<MixingMatrix> matrices;
  for (const Round& round : base(peers, k)) matrices.push_back(to_matrix(round, n));
  if (matrices.empty()) matrices.push_back(to_matrix({}, n));
  return matrices;
}

}  // namespace gv
