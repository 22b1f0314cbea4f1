#pragma once

#include <string>

#include "peer/runtime/assembly.h"

namespace gv {

/// Tells whether the others go on when those that peer `by` supplied end for want of it: it is one
/// of several that hand out samples or keep an agent's transitions, and no collective needs all.
bool does_without_supplier(const Assembly& fleet, PeerId by);
/// Says that those have ended.
std::string supply_ended_text(PeerId by);

}  // namespace gv
