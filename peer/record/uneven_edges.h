#pragma once

#include <map>
#include <vector>

#include "gossip/journal.h"

namespace gv {

/// An edge whose two ends ended at different places: the flows between these are applied at one of
/// them only, so the mean of the fleet is not what its steps made it.
struct UnevenEdge {
  PeerId a = 0, b = 0;  ///< a < b
  EdgeEnd at_a, at_b;
};

/// An edge over which nothing flowed to the end, although both of its ends were there.
struct QuietEdge {
  PeerId a = 0, b = 0;  ///< a < b
  Round since = 0;      ///< the round of the last flow, at the end that did more rounds since then
  Round rounds = 0;     ///< rounds of this end while the other was here
};

/// Finds the uneven edges in the peers' last reports, ascending. An edge of which only one end
/// reports is none: the other one was lost, which is said elsewhere.
std::vector<UnevenEdge> uneven_edges(const std::map<PeerId, const Report*>& last);

/// Finds the edges that one end calls silent and whose other end reports as well, ascending.
std::vector<QuietEdge> quiet_edges(const std::map<PeerId, const Report*>& last);

}  // namespace gv
