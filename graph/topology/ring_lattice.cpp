#include <algorithm>
#include <stdexcept>

#include "graph/topology/family.h"

namespace gv {
namespace {

constexpr GraphParameter ring_lattice_parameters[] = {
    count_parameter("k", 4, 2, "number of neighbours, half on each side; even")};

Topology build_ring_lattice(const GraphParameters& p, PeerId n) {
  const PeerId k = p.count("k");
  if (k % 2 != 0)
    throw std::invalid_argument("ring-lattice: k must be even, not " + std::to_string(k));
  std::vector<Edge> edges;
  for (PeerId i = 0; i < n; ++i) {
    for (PeerId hop = 1; hop <= std::min(k / 2, n / 2); ++hop) edges.emplace_back(i, (i + hop) % n);
  }
  return make_topology("ring-lattice", n, edges);
}

SearchGroups search_even_degrees(const SearchScope& scope) {
  SearchGroups groups;
  for (PeerId k = 4; k <= std::min<PeerId>(scope.max_degree, 32); k += 2)
    groups.push_back({"k=" + std::to_string(k)});
  return groups;
}

}  // namespace

extern constinit const TopologyFamily ring_lattice_family{
    .name = "ring-lattice",
    .summary = "a ring with K / 2 neighbours on each side",
    .parameters = ring_lattice_parameters,
    .example = "k=6",
    .build = build_ring_lattice,
    .searched = search_even_degrees,
};

}  // namespace gv
