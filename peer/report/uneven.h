#pragma once

#include <map>
#include <string>
#include <vector>

#include "gossip/journal.h"
#include "peer/json/json.h"

namespace gv {

/// An edge whose two ends ended at different places: the flows between these are applied at one of
/// them only, so the mean of the fleet is not what its steps made it.
struct UnevenEdge {
  PeerId a = 0, b = 0;  ///< a < b
  EdgeEnd at_a, at_b;
};

/// What the last reports of the peers say of their edges, ascending. An edge of which only one end
/// reports is none: the other one was lost, which is said elsewhere.
std::vector<UnevenEdge> uneven_edges(const std::map<PeerId, const Report*>& last);

/// Names some of them and counts the others; "" where there is none. No trailing newline.
std::string uneven_text(const std::vector<UnevenEdge>& edges);
/// [{"peers": [a, b], "exchanges": [at a, at b], "pieces": [at a, at b]}].
Json uneven_json(const std::vector<UnevenEdge>& edges);

}  // namespace gv
