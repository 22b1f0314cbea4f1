#pragma once

#include <functional>
#include <memory>

#include "peer/runtime/assembly.h"

namespace gv {

/// Makes a fleet's replicas without values (blank_replica.h), for SimulationOptions::replica. The
/// fleet outlives it, and it the replicas.
std::function<std::unique_ptr<Replica>(PeerId)> blank_replicas(const Assembly& fleet);

}  // namespace gv
