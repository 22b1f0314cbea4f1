#include <cmath>
#include <numbers>

#include "graph/topology/family.h"

namespace gv {
namespace {

using std::numbers::pi;

Topology build_path(const GraphParameters&, PeerId n) {
  std::vector<Edge> edges;
  for (PeerId i = 1; i < n; ++i) edges.emplace_back(i - 1, i);
  return make_topology("path", n, edges);
}

/// 1/3 + 2/3 cos(pi k / n), k = 1 .. n - 1: Strang, "The discrete cosine transform", SIAM Review
/// 1999.
std::optional<ExtremeEigenvalues> path_extremes(const GraphParameters&, PeerId n) {
  if (n == 2) return ExtremeEigenvalues{1, 0, {}};
  const double sine = std::sin(pi / (2.0 * n));
  return ExtremeEigenvalues{
      4.0 / 3 * (sine * sine), 1.0 / 3 + 2.0 / 3 * std::cos(pi * (n - 1) / n), {}};
}

std::vector<Eigenvalue> path_eigenvalues(const GraphParameters&, PeerId n) {
  if (n == 2) return {{0.0, 1}};
  std::vector<Eigenvalue> values;
  for (PeerId k = 1; k < n; ++k) values.push_back({(1 + 2 * std::cos(pi * k / n)) / 3, 1});
  return values;
}

}  // namespace

extern constinit const TopologyFamily path_family{
    .name = "path",
    .summary = "a ring with one edge cut",
    .build = build_path,
    .drawing = Drawing::open_circle,
    .extremes = path_extremes,
    .eigenvalues = path_eigenvalues,
};

namespace {

Topology build_binary_tree(const GraphParameters&, PeerId n) {
  std::vector<Edge> edges;
  for (PeerId i = 1; i < n; ++i) edges.emplace_back((i - 1) / 2, i);
  return make_topology("binary-tree", n, edges);
}

}  // namespace

extern constinit const TopologyFamily binary_tree_family{
    .name = "binary-tree",
    .summary = "peer 0 is the root, i has the children 2i + 1 and 2i + 2",
    .build = build_binary_tree,
    .drawing = Drawing::tree,
    .searched = search_alone,
};

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
