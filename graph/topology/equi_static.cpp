#include "graph/topology/equi_static.h"

#include <algorithm>
#include <bit>
#include <map>
#include <numeric>

#include "graph/topology/family.h"
#include "graph/topology/splitmix.h"

// EquiTopo: Song et al. 2022, "Communication-efficient topologies for decentralized learning with
// O(1) consensus rate", arXiv:2210.07881. Everything is made of W^(a) = I / n + (n - 1) / n P^a; by
// P^a peer i receives from i + a mod n. With enough random shifts a the consensus rate does not
// depend on n.

namespace gv {
namespace {

constexpr GraphParameter equi_static_parameters[] = {
    count_parameter("m", 0, 0, "number of random shifts of the circle; 0: ceil(log2 n)"),
    seed_parameter};

/// D-EquiStatic is the mean of the matrices W^(a) of the drawn shifts; U-EquiStatic is the mean of
/// that with its transpose. The weights come with the graph, as those of an edge list.
Topology equi_static(const GraphParameters& p, PeerId n, bool directed) {
  Topology t{.name = directed ? "d-equi-static" : "u-equi-static",
             .directed = directed,
             .neighbors = std::vector<std::vector<PeerId>>(n),
             .edge_weights = {}};
  if (n == 1) return t;
  PeerId shifts = p.count("m");
  if (shifts == 0) shifts = static_cast<PeerId>(std::bit_width(n - 1));
  const double share = static_cast<double>(n - 1) / n / shifts;  // share of one drawn shift
  std::map<Edge, double> weights;
  for (const PeerId a : circle_shifts(n, shifts, p.seed())) {
    for (PeerId i = 0; i < n; ++i) {
      const PeerId from = (i + a) % n;
      // Half of W^(a) and half of its transpose: twice half on an edge that is its own mirror.
      if (directed) {
        weights[{from, i}] += share;
      } else {
        weights[undirected_edge(i, from)] += share / 2;
      }
    }
  }
  for (const auto& [edge, weight] : weights) {
    t.neighbors[edge.second].push_back(edge.first);
    if (!directed) t.neighbors[edge.first].push_back(edge.second);
    t.edge_weights.push_back(weight);
  }
  for (auto& list : t.neighbors) std::ranges::sort(list);
  return t;
}

Topology build_directed(const GraphParameters& p, PeerId n) {
  return equi_static(p, n, true);
}

Topology build_undirected(const GraphParameters& p, PeerId n) {
  return equi_static(p, n, false);
}

SearchGroups search_directed(const SearchScope& scope) {
  return {with_seeds("m=" + std::to_string(scope.max_degree), scope)};
}

/// Each shift brings two neighbours.
SearchGroups search_undirected(const SearchScope& scope) {
  if (scope.max_degree < 2) return {};
  return {with_seeds("m=" + std::to_string(scope.max_degree / 2), scope)};
}

}  // namespace

std::vector<PeerId> circle_shifts(PeerId n, PeerId shifts, std::uint64_t seed) {
  std::vector<PeerId> list;
  SplitMix rng(seed);
  if (n > 1 && shifts == 0) {
    list.resize(n - 1);
    std::iota(list.begin(), list.end(), PeerId{1});
  } else if (n > 1) {
    for (PeerId k = 0; k < shifts; ++k) list.push_back(1 + static_cast<PeerId>(rng.below(n - 1)));
  }
  return list;
}

extern constinit const TopologyFamily d_equi_static_family{
    .name = "d-equi-static",
    .summary =
        "directed: M random shifts of the circle; weights edge-list are the paper's; "
        "arXiv:2210.07881",
    .parameters = equi_static_parameters,
    .example = "m=3,seed=1",
    .build = build_directed,
    .searched = search_directed,
};

extern constinit const TopologyFamily u_equi_static_family{
    .name = "u-equi-static",
    .summary = "the same without directions; arXiv:2210.07881",
    .parameters = equi_static_parameters,
    .example = "m=2,seed=1",
    .build = build_undirected,
    .searched = search_undirected,
};

}  // namespace gv
