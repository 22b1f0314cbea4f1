#pragma once

#include <span>

#include "graph/topology/topology.h"

namespace gv {

/// The largest |eigenvalue| of the W of share_rows, but for the 1 of its fixed mean. Throws
/// std::invalid_argument for more than 512 peers (all eigenvalues are computed).
double share_rate(const Topology& t, std::span<const double> shares);

}  // namespace gv
