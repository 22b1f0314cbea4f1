#pragma once

#include <vector>

#include "gossip/collectives.h"

namespace gv {

// One number of each member of a group, told to all of them along the connections that the sum
// takes. Each gives them in the order of the group; nothing: one has gone for good. n members,
// latency alpha.

using Numbers = std::optional<std::vector<float>>;

Task<Numbers> tell_all(Peer& me, Group group, Way way, float own);  ///< ring n, others as the sum
/// Among the first peers of each machine along a ring; the others tell and hear theirs.
Task<Numbers> tell_hosts(Peer& me, float own);

}  // namespace gv
