#pragma once

#include <string>

#include "peer/launch/agent/lan_check.h"

namespace gv::cli {

/// Prints what `doctor FILE` says: two lines or more of each host, the roads, `keys` ("": nothing
/// is to be said of them), and what is wrong; as JSON where that is asked for.
void print_hosts(const LanCheck& check, const std::string& keys, bool json);

}  // namespace gv::cli
