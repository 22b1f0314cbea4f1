#pragma once

#include "peer/fleet/file/value.h"
#include "peer/fleet/fleet.h"

namespace gv {

/// Reads `robust` of a fleet whose algorithm is read; may be null. Problems become diagnostics.
void read_robust(Source& source, const Value* value, Fleet& fleet);

}  // namespace gv
