#pragma once

#include <string>

#include "peer/fleet/fleet.h"

namespace gv::cli {

// What `plan` says of the local steps of a fleet.

/// "1 local step", "4 local steps" or "1 .. 9 local steps, 4 on average".
std::string local_steps_text(const Fleet& fleet);
/// Where peers take unequal numbers of steps, what becomes of their rates; else nothing.
std::string own_rates_note(const Fleet& fleet);

}  // namespace gv::cli
