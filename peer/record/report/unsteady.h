#pragma once

#include <string>

#include "peer/fleet/json/json.h"
#include "peer/record/fleet_record.h"

namespace gv {

/// Returns which peers ran ahead of their pace, and which edges stayed silent with both ends here;
/// "" if none did. No trailing newline.
std::string unsteady_text(const FleetRecord& record);
/// "ran_ahead": [{"peer", "first", "rounds", "usual"}] and "silent": [{"peers", "since",
/// "rounds"}], where there are any.
void add_unsteady(Json& line, const FleetRecord& record);

}  // namespace gv
