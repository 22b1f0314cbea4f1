#pragma once

#include "gossip/setup.h"
#include "peer/fleet/fleet.h"

namespace gv {

/// What the fleet's method knows of the fleet. An option that the file leaves out has its usual
/// value.
Setup setup_of(const Fleet& fleet);

}  // namespace gv
