#include <cmath>
#include <numbers>

#include "graph/topology/family.h"

namespace gv {
namespace {

constexpr double pi = std::numbers::pi;

Topology build_ring(const GraphParameters&, PeerId n) {
  std::vector<Edge> edges;
  for (PeerId i = 0; i < n; ++i) edges.emplace_back(i, (i + 1) % n);
  return make_topology("ring", n, edges);
}

/// 1/3 + 2/3 cos(2 pi m / n): Davis, "Circulant matrices", Wiley 1979. The extremes are at m = 1
/// and at the m nearest n / 2.
std::optional<ExtremeEigenvalues> ring_extremes(const GraphParameters&, PeerId n) {
  if (n == 2) return ExtremeEigenvalues{1, 0, {}};
  const double sine = std::sin(pi / n);
  return ExtremeEigenvalues{
      4.0 / 3 * (sine * sine), 1.0 / 3 + 2.0 / 3 * std::cos(2 * pi * (n / 2) / n), {}};
}

std::vector<Eigenvalue> ring_eigenvalues(const GraphParameters&, PeerId n) {
  if (n == 2) return {{0.0, 1}};
  return circulant_eigenvalues(n, [n](PeerId m) -> std::complex<double> {
    return (1 + 2 * root_of_unity(m, n).real()) / 3;
  });
}

}  // namespace

extern constinit const TopologyFamily ring_family{
    .name = "ring",
    .summary = "each peer and its two neighbours on a circle",
    .build = build_ring,
    .extremes = ring_extremes,
    .eigenvalues = ring_eigenvalues,
    .searched = search_alone,
};

}  // namespace gv
