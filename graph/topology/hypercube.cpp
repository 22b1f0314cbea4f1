#include <bit>
#include <stdexcept>

#include "graph/topology/family.h"

namespace gv {
namespace {

Topology build_hypercube(const GraphParameters&, PeerId n) {
  if (!std::has_single_bit(n))
    throw std::invalid_argument("hypercube: the number of peers must be a power of two, not " +
                                std::to_string(n));
  std::vector<Edge> edges;
  for (PeerId i = 0; i < n; ++i) {
    for (PeerId bit = 1; bit < n; bit *= 2) edges.emplace_back(i, i ^ bit);
  }
  return make_topology("hypercube", n, edges);
}

std::optional<ExtremeEigenvalues> hypercube_extremes(const GraphParameters&, PeerId n) {
  const double d = std::countr_zero(n);
  return ExtremeEigenvalues{2 / (d + 1), 1 - 2 * d / (d + 1), {}};
}

/// 1 - 2 k / (d + 1), d over k times: Diaconis, "Group representations in probability and
/// statistics", IMS 1988, chapter 3.
std::vector<Eigenvalue> hypercube_eigenvalues(const GraphParameters&, PeerId n) {
  const int d = std::countr_zero(n);
  std::vector<Eigenvalue> values;
  double choose = 1;
  for (int k = 1; k <= d; ++k) {
    choose *= static_cast<double>(d - k + 1) / k;
    values.push_back({1 - 2.0 * k / (d + 1), choose});
  }
  return values;
}

}  // namespace

extern constinit const TopologyFamily hypercube_family{
    .name = "hypercube",
    .summary = "n = 2^d peers, neighbours differ in one bit of their id",
    .build = build_hypercube,
    .extremes = hypercube_extremes,
    .eigenvalues = hypercube_eigenvalues,
    .searched = search_alone,
};

}  // namespace gv
