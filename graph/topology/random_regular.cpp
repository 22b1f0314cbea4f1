#include <set>
#include <stdexcept>

#include "graph/topology/family.h"
#include "graph/topology/splitmix.h"

// Simple, connected graphs in which every peer has the same degree: half-edges are joined one
// suitable pair after the other, and begun again when that gets stuck. Steger & Wormald,
// "Generating random regular graphs quickly", Combinatorics, Probability and Computing 1999.

namespace gv {
namespace {

using EdgeSet = std::set<Edge>;

constexpr GraphParameter random_regular_parameters[] = {
    count_parameter("degree", 3, 1, "the neighbours of each peer; peers times degree is even"),
    seed_parameter};

/// False when it gets stuck.
bool pair_half_edges(PeerId n, PeerId degree, SplitMix& rng, EdgeSet& edges) {
  std::vector<PeerId> half_edges;
  for (PeerId i = 0; i < n; ++i) half_edges.insert(half_edges.end(), degree, i);
  edges.clear();
  int failures = 0;
  while (!half_edges.empty()) {
    const std::size_t a = rng.below(half_edges.size());
    const std::size_t b = rng.below(half_edges.size());
    const Edge edge = undirected_edge(half_edges[a], half_edges[b]);
    if (edge.first == edge.second || edges.contains(edge)) {
      if (++failures > 200) return false;
      continue;
    }
    failures = 0;
    edges.insert(edge);
    for (const std::size_t used : {std::max(a, b), std::min(a, b)}) {
      half_edges[used] = half_edges.back();
      half_edges.pop_back();
    }
  }
  return true;
}

EdgeSet complement(PeerId n, const EdgeSet& edges) {
  EdgeSet others;
  for (PeerId i = 0; i < n; ++i) {
    for (PeerId j = i + 1; j < n; ++j)
      if (!edges.contains({i, j})) others.insert(others.end(), {i, j});
  }
  return others;
}

Topology build_random_regular(const GraphParameters& p, PeerId n) {
  const PeerId degree = p.count("degree");
  const std::string what = "random-regular of degree " + std::to_string(degree) + " on " +
                           std::to_string(n) + " peers: ";
  if (degree >= n)
    throw std::invalid_argument(what + "the degree must be smaller than the number of peers");
  if (std::uint64_t{n} * degree % 2 != 0)
    throw std::invalid_argument(what + "degree times peers must be even");
  SplitMix rng(p.seed());
  EdgeSet edges;
  // Pairing gets stuck on dense graphs: of those, the pairs that are left out are drawn.
  const bool dense = degree > (n - 1) / 2;
  for (int attempt = 0; attempt < 1000; ++attempt) {
    if (!pair_half_edges(n, dense ? n - 1 - degree : degree, rng, edges)) continue;
    const EdgeSet chosen = dense ? complement(n, edges) : edges;
    Topology t = make_topology("random-regular", n, {chosen.begin(), chosen.end()});
    if (is_connected(t)) return t;
  }
  throw std::invalid_argument(what + "no connected graph in 1000 attempts");
}

SearchGroups search_highest_degrees(const SearchScope& scope) {
  SearchGroups groups;
  for (PeerId d = std::max<PeerId>(3, scope.max_degree - 1); d <= scope.max_degree; ++d)
    groups.push_back(with_seeds("degree=" + std::to_string(d), scope));
  return groups;
}

}  // namespace

extern constinit const TopologyFamily random_regular_family{
    .name = "random-regular",
    .summary = "every peer has D random neighbours; connected; Steger & Wormald 1999",
    .parameters = random_regular_parameters,
    .example = "degree=4,seed=2",
    .build = build_random_regular,
    .searched = search_highest_degrees,
};

}  // namespace gv
