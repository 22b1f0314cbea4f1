#pragma once

#include "peer/fleet/file/value.h"
#include "peer/fleet/fleet.h"

namespace gv {

/// Reads `agent` (null: none) into `fleet`, whose data and batches are known: agents act where the
/// data are an environment, and nowhere else. Problems become diagnostics of `source`.
void read_agent(Source& source, const Value& root, const Value* value, Fleet& fleet);
/// Says what in the rest of the file, which `fleet` holds, has no meaning for agents, and what has
/// one for them alone.
void check_agent(Source& source, const Value& root, const Fleet& fleet);

}  // namespace gv
