#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "graph/topology/family.h"

namespace gv {

/// Every family of topologies. To add one: its file in graph/topology/, and its line in
/// topologies.cpp.
std::span<const TopologyFamily* const> topology_families();

/// Null when there is no family of this name.
const TopologyFamily* find_topology_family(std::string_view name);

/// Parses `family[:parameters]`: "ring", "torus:4x4", "random-regular:degree=3,seed=1",
/// "file:path/to.edges". Throws std::invalid_argument that names what is wrong and, for an unknown
/// family, lists the known ones and suggests the nearest.
TopologySpec parse_topology(std::string_view text);

/// Returns what a topology's name says of it; none when the name is not that of a family, as that
/// of a graph made by hand.
std::optional<TopologySpec> spec_of_name(const Topology& t);

/// "ring,random-regular:degree=3,seed=1,torus:4x4" -> three topologies. GraphParameters are
/// separated by commas too: a piece begins a topology where a family's name stands, or anything
/// that is neither a parameter nor the rest of a file's path (so that a misspelt name is reported
/// as one).
std::vector<std::string> split_topologies(std::string_view list);

}  // namespace gv
