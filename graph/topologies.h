#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "graph/topology/family.h"

namespace gv {

/// Every family of topologies. To add one: its file in graph/topology/, and its name in
/// graph/CMakeLists.txt.
std::span<const TopologyFamily* const> topology_families();

/// Returns null if there is no family of this name.
const TopologyFamily* find_topology_family(std::string_view name);

/// Parses `family[:parameters]`: "ring", "torus:4x4", "random-regular:degree=3,seed=1",
/// "file:path/to.edges". Throws std::invalid_argument that names what is wrong and, for an unknown
/// family, lists the known ones and suggests the nearest.
TopologySpec parse_topology(std::string_view text);

/// Returns the specification in a topology's name; none if it is not a family's name, as in a graph
/// made by hand.
std::optional<TopologySpec> spec_of_name(const Topology& t);

/// Splits "ring,random-regular:degree=3,seed=1,torus:4x4" into three topologies. Commas separate
/// parameters too: a piece begins a topology if it begins with a family's name, or is neither a
/// parameter nor the rest of a file's path (so that a misspelt name is reported as one).
std::vector<std::string> split_topologies(std::string_view list);

}  // namespace gv
