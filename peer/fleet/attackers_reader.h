#pragma once

#include "peer/fleet/file/value.h"
#include "peer/fleet/fleet.h"

namespace gv {

/// Reads `attackers` of a fleet in which `trainers` peers train; may be null. Problems become
/// diagnostics of `source`.
AttackersSpec read_attackers(Source& source, const Value* value, PeerId trainers);

}  // namespace gv
