#pragma once

#include <cstdint>
#include <optional>

#include "graph/topology/family.h"

namespace gv {

/// Known numbers of a graph without its edges. All its peers have the same degree.
struct GraphCounts {
  PeerId peers = 0;
  std::uint64_t edges = 0;
  PeerId degree = 0;
  std::int64_t diameter = 0;
};

/// Counts a graph with too many edges to hold in memory, for which its family's formulas are used
/// (closed_form_spectrum, closed_form_modes); nothing if the graph can be built.
std::optional<GraphCounts> counted(const TopologySpec& spec, PeerId n);

}  // namespace gv
