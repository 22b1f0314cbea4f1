#pragma once

#include <string>

#include "peer/record/observer.h"
#include "peer/record/run_folder.h"
#include "peer/runtime/assembly.h"

namespace gv {

// `output: { save: best }`: while a run goes on, model.safetensors is its best model until then,
// and best.json says of which round, and with which figure.

/// Writes both (`version`: of the program that saves it). Throws std::runtime_error (a full disk).
void keep_best(const Assembly& fleet,
               const RunFolder& folder,
               const BestModel& best,
               const std::string& version);

/// Returns what an observer of the rest of a run recalls of its beginning: `lines` of
/// metrics.jsonl, and the best model that the folder keeps.
Recalled recalled(const Assembly& fleet, const RunFolder& folder, const std::string& lines);
/// Returns the records in such lines, without a model.
std::vector<FleetRecord> records_in(const std::string& lines);

}  // namespace gv
