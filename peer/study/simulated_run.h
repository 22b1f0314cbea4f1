#pragma once

#include <atomic>
#include <cstdint>
#include <functional>

#include "peer/fleet/json/json.h"
#include "peer/record/fleet_record.h"
#include "peer/record/run_folder.h"
#include "peer/runtime/assembly.h"
#include "peer/sim/simulation.h"

namespace gv {

/// Plans what the file lets go wrong in virtual time, with the times by which a real fleet notices.
FaultPlan injected_faults(const Assembly& fleet);

/// Returns what summary.json says of a simulated run beside its target and its exit code: the last
/// record, what was predicted, and the network's shape, on which the seconds depend.
Json simulated_summary(const Assembly& fleet, const FleetRecord& end, const FinalHashes& hashes);

/// Writes where a simulated peer spent its time into the run's folder, from any thread; `failed`
/// becomes true when it could not. Null where the fleet does not ask for it, or has more than 1,000
/// peers: then metrics.jsonl has their sums.
std::function<void(const Recorder&, std::uint64_t life)> life_writer(const Assembly& fleet,
                                                                     const RunFolder& folder,
                                                                     std::atomic<bool>& failed);

}  // namespace gv
