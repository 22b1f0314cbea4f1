#pragma once

#include <string>
#include <vector>

#include "peer/fleet/json/json.h"
#include "peer/record/fleet_record.h"

namespace gv {

/// {"event":"evaluate","round":..,"seconds":..,...}: one line of metrics.jsonl and of `--json`. No
/// newline. Of agents with "return", "return_local" and "frames". Where its figures are of a
/// validation set, with "evaluated_on":"validation".
std::string evaluate_line(const FleetRecord& record);

/// {"event":"summary","rounds":..,"peers":..,"lost":..,"loss":..,"loss_local":..,"accuracy":..,
/// "accuracy_min":..,"accuracy_max":..,"consensus":..,"seconds":..,"sent_bytes":..,
/// "params_hash":"..","model_hash":".."}, with a validation set also "test":{"loss":..,
/// "accuracy":..} of the model that is saved, and "saved_round" where that is the best one.
Json summary_json(const FleetRecord& record,
                  PeerId lost,
                  double seconds,
                  const FinalHashes& hashes);

}  // namespace gv
