#pragma once

#include "peer/fleet/json/json.h"
#include "peer/sim/swarm.h"

namespace gv::cli {

/// Tells what a swarm found out, as `simulate` does. `seconds`: that it took.
Json swarm_json(const SwarmResult& result, double seconds);
void print_swarm(const SwarmResult& result, double seconds);

}  // namespace gv::cli
