#pragma once

#include <optional>
#include <string>

#include "graph/predict/quadratic.h"
#include "peer/fleet/json/json.h"
#include "peer/record/fleet_record.h"
#include "peer/runtime/assembly.h"

namespace gv {

/// Returns what the predictor says of a fleet at `record`'s round: of its own minima where they are
/// few enough to follow, else over their draw. For linear regression on fresh samples these are
/// losses, not excess losses. Empty where the theory does not apply (see quadratic_problem,
/// regression_problem) or peers are missing. One run scatters around it.
std::optional<Stationary> expectation(const Assembly& fleet, const FleetRecord& record);

/// Predicted beside measured, a line each; begins with a newline, empty without a prediction.
std::string expectation_text(const std::optional<Stationary>& expected, const FleetRecord& record);

/// Adds "predicted": {"consensus", "excess_loss_mean", "excess_loss_local"} to the document of
/// summary_json, where there is a prediction.
void add_expectation(Json& summary, const std::optional<Stationary>& expected);

}  // namespace gv
