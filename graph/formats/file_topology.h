#pragma once

#include "graph/topology/family.h"

namespace gv {

/// The family `file:PATH`: the user's own graph, in any format of graph/formats/format.h.
extern const TopologyFamily file_family;

TopologySpec file_topology(const std::string& path);

}  // namespace gv
