#pragma once

#include "peer/fleet/fleet.h"
#include "peer/fleet/value.h"

namespace gv {

/// Reads `robust` of a fleet whose algorithm is read; may be null. Problems become diagnostics.
void read_robust(Source& source, const Value* value, Fleet& fleet);

}  // namespace gv
