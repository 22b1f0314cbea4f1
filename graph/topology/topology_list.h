#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace gv {

/// "ring,random-regular:degree=3,seed=1,torus:4x4" -> three topologies. Parameters are separated by
/// commas too: a piece begins a topology where a family's name stands, or anything that is neither
/// a parameter nor the rest of a file's path (so that a misspelt name is reported as one).
std::vector<std::string> split_topologies(std::string_view list);

}  // namespace gv
