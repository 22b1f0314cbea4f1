#pragma once

#include <string>
#include <vector>

#include "peer/fleet/fleet.h"

namespace gv {

/// The host of each peer; empty where all are on one, so that their numbers say enough.
std::vector<std::string> host_names(const Fleet& fleet);

}  // namespace gv
