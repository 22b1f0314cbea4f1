#pragma once

#include <cstdint>
#include <optional>

#include "graph/topology/family.h"

namespace gv {

/// The numbers that are known of a graph without its edges. All its peers have the same degree.
struct GraphCounts {
  PeerId peers = 0;
  std::uint64_t edges = 0;
  PeerId degree = 0;
  std::int64_t diameter = 0;
};

/// Counts a graph with more edges than anybody wants to hold, for which the formulas of its family
/// answer (closed_form_spectrum, closed_form_modes); nothing where the graph is built.
std::optional<GraphCounts> counted(const TopologySpec& spec, PeerId n);

}  // namespace gv
