#pragma once

#include <string>

#include "peer/record/observer.h"
#include "peer/record/run_folder.h"
#include "peer/runtime/assembly/assembly.h"

namespace gv {

// `output: { save: best }`: during a run, model.safetensors holds the best model up to now, and
// best.json holds its round and its figure.

/// Writes both files; `version` is that of the program. Throws std::runtime_error (a full disk).
void keep_best(const Assembly& fleet,
               const RunFolder& folder,
               const BestModel& best,
               const std::string& version);

/// Returns the beginning of a run for the observer of the rest: the records in `lines`, which are
/// from metrics.jsonl, and the best model kept in the folder.
Recalled recalled(const Assembly& fleet, const RunFolder& folder, const std::string& lines);
/// Returns the records in these lines of metrics.jsonl, without models.
std::vector<FleetRecord> records_in(const std::string& lines);

}  // namespace gv
