#pragma once

#include <string>

#include "peer/runtime/assembly.h"

namespace gv {

/// Whether the others go on when those that peer `by` supplied have ended for want of it: it is one
/// of several that hand out samples or keep an agent's transitions, and no collective needs all.
bool does_without_supplier(const Assembly& fleet, PeerId by);
/// That those have ended.
std::string supply_ended_text(PeerId by);

}  // namespace gv
