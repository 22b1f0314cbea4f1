#pragma once

#include "peer/fleet/file/value.h"
#include "peer/fleet/fleet.h"

namespace gv {

/// Reads `faults` of a fleet of `peers` peers; may be null. Problems become diagnostics of
/// `source`.
FaultSpec read_faults(Source& source, const Value* value, PeerId peers);

}  // namespace gv
