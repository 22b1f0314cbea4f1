#include "graph/topology/family.h"

namespace gv {
namespace {

Topology build_star(const GraphParameters&, PeerId n) {
  std::vector<Edge> edges;
  for (PeerId i = 1; i < n; ++i) edges.emplace_back(0, i);
  return make_topology("star", n, edges);
}

/// Every edge has the weight 1 / n: W is 1 - 1 / n on vectors that sum to zero over the leaves, and
/// 0 on the hub's difference to them.
std::optional<ExtremeEigenvalues> star_extremes(const GraphParameters&, PeerId n) {
  return n == 2 ? ExtremeEigenvalues{1, 0, {}} : ExtremeEigenvalues{1.0 / n, 0, {}};
}

std::vector<Eigenvalue> star_eigenvalues(const GraphParameters&, PeerId n) {
  if (n == 2) return {{0.0, 1}};
  return {{1 - 1.0 / n, n - 2.0}, {0.0, 1}};
}

}  // namespace

extern constinit const TopologyFamily star_family{
    .name = "star",
    .summary = "peer 0 in the middle",
    .build = build_star,
    .drawing = Drawing::hub,
    .extremes = star_extremes,
    .eigenvalues = star_eigenvalues,
};

}  // namespace gv
