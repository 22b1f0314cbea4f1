#include "graph/topology/family.h"

namespace gv {
namespace {

constexpr GraphParameter shape_only[] = {shape_parameter};

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
    .parameters = shape_only,
    .example = "4x4",
    .build = build_king_torus,
    .drawing = Drawing::lattice,
    .searched = search_shapes,
};

}  // namespace gv
