#pragma once

#include <utility>
#include <vector>

#include "peer/sim/simulation.h"

namespace gv {

/// Returns options for a simulation with these faults and no random ones.
inline SimulationOptions injecting(std::vector<Injection> faults,
                                   const LinkTimes& times = swarm_times()) {
  SimulationOptions options;
  options.threads = 1;
  options.faults = FaultPlan{.seed = 1,
                             .until = Time::max(),
                             .trace = {},
                             .drawn = false,
                             .restart = false,
                             .inject = std::move(faults),
                             .times = times};
  return options;
}

}  // namespace gv
