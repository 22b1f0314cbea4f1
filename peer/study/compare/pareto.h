#pragma once

#include <utility>
#include <vector>

namespace gv {

/// Tells which of these pairs of costs no other one dominates: none is at most as dear in both and
/// cheaper in one. Costs that are not finite are dominated by every finite pair.
std::vector<bool> not_dominated(const std::vector<std::pair<double, double>>& costs);

}  // namespace gv
