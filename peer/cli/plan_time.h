#pragma once

#include "peer/fleet/json/json.h"
#include "peer/runtime/assembly.h"
#include "peer/study/predict/forecast/round_prediction.h"

namespace gv::cli {

/// Returns whether the run goes on until somebody ends it, so that nothing takes so long in all.
bool endless(const Assembly& fleet);

/// Says in seconds what the alpha-beta model says of a round, and of all of them; as `predicted`
/// of `plan --json`.
Json predicted_json(const Assembly& fleet, const RoundPrediction& round);
/// Prints the same, as the row `time` of `plan`.
void print_prediction(const Assembly& fleet, const RoundPrediction& round);

}  // namespace gv::cli
