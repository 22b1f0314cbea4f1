#pragma once

#include "gossip/setup.h"
#include "peer/fleet/fleet.h"

namespace gv {

/// Returns what the fleet's method knows of the fleet. An option that the file leaves out has its
/// usual value.
Setup setup_of(const Fleet& fleet);

/// Puts the servers that the method and the data ask for behind the peers that train, so that these
/// have the same data and the same first weights whatever the method; and the actors of agents
/// behind them, each on the machine of its learner. Those that are there already go.
void add_servers(Fleet& fleet);

}  // namespace gv
