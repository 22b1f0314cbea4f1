#pragma once

#include <string>

#include "peer/fleet/fleet.h"

namespace gv::cli {

// What `plan` says of the local steps of a fleet.

/// "1 local step", "4 local steps" or "1 .. 9 local steps, 4 on average".
std::string local_steps_text(const Fleet& fleet);
/// Says what becomes of the peers' rates where their numbers of steps differ; else nothing.
std::string own_rates_note(const Fleet& fleet);

}  // namespace gv::cli
