#pragma once

#include <vector>

#include "graph/topology/topology.h"

namespace gv {

/// Edges of which no two share a peer: all can be used at the same time.
using Matching = std::vector<Edge>;

/// The edges of an undirected graph in at most deg_max + 1 matchings, each sorted: an edge
/// colouring by Misra & Gries, "A constructive proof of Vizing's theorem", Information Processing
/// Letters 1992. Throws std::invalid_argument when t is directed.
std::vector<Matching> matching_decomposition(const Topology& t);

}  // namespace gv
