#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>
#include <stdexcept>

#include "graph/topology/family.h"

namespace gv {
namespace {

using std::numbers::pi;

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

namespace {

constexpr GraphParameter lattice_parameters[] = {shape_parameter};

/// The strong product of two rings: each peer and the eight around it.
Topology build_king_torus(const GraphParameters& p, PeerId n) {
  const auto [rows, columns] = shape_for("king-torus", p.shape(), n);
  std::vector<Edge> edges;
  for (PeerId r = 0; r < rows; ++r) {
    for (PeerId c = 0; c < columns; ++c) {
      const PeerId here = r * columns + c;
      const PeerId below = (r + 1) % rows * columns;
      edges.emplace_back(here, r * columns + (c + 1) % columns);
      for (const PeerId next : {c, (c + 1) % columns, (c + columns - 1) % columns})
        edges.emplace_back(here, below + next);
    }
  }
  return make_topology("king-torus", n, edges);
}

}  // namespace

extern constinit const TopologyFamily king_torus_family{
    .name = "king-torus",
    .summary = "a torus with its diagonals: 8 neighbours",
    .parameters = lattice_parameters,
    .example = "4x4",
    .build = build_king_torus,
    .drawing = Drawing::lattice,
    .searched = search_shapes,
};

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
