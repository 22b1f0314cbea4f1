#pragma once

#include "gossip/seam/setup.h"
#include "peer/fleet/fleet.h"

namespace gv {

/// Returns the facts about the fleet that its method sees. Options missing in the file have their
/// defaults.
Setup setup_of(const Fleet& fleet);

/// Replaces the servers and actors at the end of the fleet's peers: the servers that method and
/// data ask for follow the peers that train, so that these have the same data and first weights
/// with any method; the agents' actors come last, each on its learner's machine.
void add_servers(Fleet& fleet);

}  // namespace gv
