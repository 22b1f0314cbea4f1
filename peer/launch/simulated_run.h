#pragma once

#include "peer/json/json.h"
#include "peer/runtime/assembly.h"
#include "peer/runtime/observer.h"
#include "peer/sim/simulation.h"

namespace gv {

/// What the fleet file lets go wrong in virtual time, with the times by which a real fleet notices.
FaultPlan injected_faults(const Fleet& fleet);

/// What summary.json says of a simulated run beside its target and its exit code: the last record,
/// what was predicted, and the network's shape, on which the seconds depend.
Json simulated_summary(const Assembly& fleet, const FleetRecord& end, const FinalHashes& hashes);

}  // namespace gv
