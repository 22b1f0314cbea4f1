#include "graph/topology/family.h"
#include "graph/topology/splitmix.h"

namespace gv {
namespace {

constexpr GraphParameter erdos_renyi_parameters[] = {
    share_parameter("p", 0.3, "probability that an edge exists"), seed_parameter};

/// Gilbert, "Random graphs", Annals of Mathematical Statistics 1959. May be disconnected.
Topology build_erdos_renyi(const GraphParameters& parameters, PeerId n) {
  const double p = parameters.number("p");
  SplitMix rng(parameters.seed());
  std::vector<Edge> edges;
  for (PeerId i = 0; i < n; ++i) {
    for (PeerId j = i + 1; j < n; ++j) {
      if (rng.uniform() < p) edges.emplace_back(i, j);
    }
  }
  return make_topology("erdos-renyi", n, edges);
}

}  // namespace

extern constinit const TopologyFamily erdos_renyi_family{
    .name = "erdos-renyi",
    .summary = "every edge exists with probability P; Gilbert 1959",
    .parameters = erdos_renyi_parameters,
    .example = "p=0.5,seed=1",
    .build = build_erdos_renyi,
};

}  // namespace gv
