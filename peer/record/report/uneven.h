#pragma once

#include <string>
#include <vector>

#include "peer/fleet/json/json.h"
#include "peer/record/uneven_edges.h"

namespace gv {

/// Names some of them and counts the others; "" where there is none. No trailing newline.
std::string uneven_text(const std::vector<UnevenEdge>& edges);
/// [{"peers": [a, b], "exchanges": [at a, at b], "pieces": [at a, at b]}].
Json uneven_json(const std::vector<UnevenEdge>& edges);

}  // namespace gv
