#pragma once

#include "peer/fleet/value.h"
#include "peer/network/network_spec.h"

namespace gv {

/// Reads `network` (a map) and `links` (a list of what differs between two of `peers` peers); both
/// may be null. Problems become diagnostics of `source`.
NetworkSpec read_network(Source& source, const Value* network, const Value* links, PeerId peers);

}  // namespace gv
