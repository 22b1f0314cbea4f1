#pragma once

#include <set>
#include <string>

#include "graph/topology/topology.h"

namespace gv {

/// Returns "12 edges, all in shared memory", "12 edges, all over TCP", or lists which edges are
/// which, as far as they fit on a line. Pairs are (lower id, higher id).
std::string edges_text(const std::set<Edge>& all, const std::set<Edge>& shared);

}  // namespace gv
