#pragma once

#include <string>

#include "gossip/setup.h"
#include "peer/fleet/json/json.h"

namespace gv {

// Who lies in a fleet whose file says so: beside what the others have found out, which is the
// `clipped` of the same output.

/// "attackers  peer 7: aside 25 (mu, and ...)"; "" where there is none. No trailing newline.
std::string attackers_text(const Setup& setup);
/// "attackers": {"peers": [7], "kind": "aside", "strength": 25}, where there are any.
void add_attackers(Json& summary, const Setup& setup);

}  // namespace gv
