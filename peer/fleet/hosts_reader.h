#pragma once

#include <vector>

#include "peer/fleet/fleet.h"
#include "peer/fleet/value.h"

namespace gv {

/// Reads `hosts`; may be null. This machine is the first of them, whether or not the file names it.
/// Problems become diagnostics.
std::vector<HostSpec> read_hosts(Source& source, const Value* value);

}  // namespace gv
