#include <set>
#include <stdexcept>

#include "graph/topology/family.h"
#include "graph/topology/splitmix.h"

namespace gv {
namespace {

constexpr GraphParameter small_world_parameters[] = {
    count_parameter("k", 4, 2, "number of neighbours in the ring lattice; even"),
    share_parameter("beta", 0.1, "probability that an edge is rewired"), seed_parameter};

/// Watts & Strogatz, "Collective dynamics of small-world networks", Nature 1998.
Topology build_small_world(const GraphParameters& p, PeerId n) {
  const PeerId k = p.count("k");
  const double beta = p.number("beta");
  if (k % 2 != 0 || k >= n) {
    throw std::invalid_argument("small-world: k must be even and below the number of peers, " +
                                std::to_string(n) + ", not " + std::to_string(k));
  }
  std::set<Edge> edges;
  for (PeerId i = 0; i < n; ++i) {
    for (PeerId hop = 1; hop <= k / 2; ++hop) edges.insert(undirected_edge(i, (i + hop) % n));
  }
  SplitMix rng(p.seed());
  for (PeerId hop = 1; hop <= k / 2; ++hop) {
    for (PeerId i = 0; i < n; ++i) {
      const Edge old = undirected_edge(i, (i + hop) % n);
      if (rng.uniform() >= beta || !edges.contains(old)) continue;
      const auto target = static_cast<PeerId>(rng.below(n));
      if (target == i || edges.contains(undirected_edge(i, target))) continue;
      edges.erase(old);
      edges.insert(undirected_edge(i, target));
    }
  }
  return make_topology("small-world", n, {edges.begin(), edges.end()});
}

}  // namespace

extern constinit const TopologyFamily small_world_family{
    .name = "small-world",
    .summary = "a ring lattice of K neighbours, rewired with probability B; Watts & Strogatz 1998",
    .parameters = small_world_parameters,
    .example = "k=4,beta=0.3,seed=2",
    .build = build_small_world,
};

}  // namespace gv
