#pragma once

#include <string>
#include <vector>

#include "peer/fleet/fleet.h"

namespace gv {

/// Returns the host of each peer, or nothing if all are on one host and need no host names.
std::vector<std::string> host_names(const Fleet& fleet);

}  // namespace gv
