#pragma once

#include <string>
#include <vector>

#include "graph/topology/family.h"
#include "peer/show/page/svg.h"

namespace gv {

constexpr PeerId most_drawn_peers = 128;

/// Places in a square of side 1: the lattice of a torus or grid, the levels of a tree, the circle
/// of everything else (a star's hub in its middle).
std::vector<svg::Point> layout(const TopologySpec& spec, PeerId n);

/// The graph, up to most_drawn_peers; beyond, a picture that says so. What leaves the border of a
/// torus is drawn as two half lines. `series` picks the colour.
std::string topology_figure(const Topology& t, std::size_t series);

}  // namespace gv
