#pragma once

#include <atomic>
#include <cstdint>
#include <functional>

#include "peer/fleet/json/json.h"
#include "peer/record/fleet_record.h"
#include "peer/record/run_folder.h"
#include "peer/runtime/assembly/assembly.h"
#include "peer/sim/simulation.h"

namespace gv {

/// Returns the file's faults in virtual time, with the timeouts by which a real fleet detects them.
FaultPlan injected_faults(const Assembly& fleet);

/// Returns a simulated run's part of summary.json without target and exit code: the last record,
/// the predictions, and the network's shape, on which the seconds depend.
Json simulated_summary(const Assembly& fleet, const FleetRecord& end, const FinalHashes& hashes);

/// Returns a function, callable from any thread, that writes how a simulated peer spent its time
/// into the run's folder; it sets `failed` if it cannot write. Returns nullptr if the fleet does
/// not ask for it or has more than 1,000 peers: then metrics.jsonl has their sums.
std::function<void(const Recorder&, std::uint64_t life)> life_writer(const Assembly& fleet,
                                                                     const RunFolder& folder,
                                                                     std::atomic<bool>& failed);

}  // namespace gv
