#pragma once

#include "peer/fleet/json/json.h"
#include "peer/sim/swarm.h"

namespace gv::cli {

/// What a swarm found out, as `simulate` tells it. `seconds`: that it took.
Json swarm_json(const SwarmResult& result, double seconds);
void print_swarm(const SwarmResult& result, double seconds);

}  // namespace gv::cli
