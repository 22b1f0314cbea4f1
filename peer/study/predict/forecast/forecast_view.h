#pragma once

#include <string>

#include "peer/fleet/json/json.h"
#include "peer/study/predict/forecast/forecast.h"

namespace gv {

/// The lines that `plan` prints: this fleet, a table of the alternatives, the advice. Ends with a
/// newline.
std::string forecast_text(const FleetForecast& forecast);

/// {"consensus", "excess_loss_mean", "excess_loss_local", "rounds_to_target", "bytes_per_round",
/// "seconds_per_round", "seconds_to_target"}, null where not known or never. Calibrated also what
/// the mean model's excess is uncertain by, the part of graph and order, and whether each says more
/// than that it is small ("excess_loss_mean_error", "_resolved", "excess_loss_graph", ...).
Json predicted_json(const Forecast& f);

/// Adds "predicted", "target", "alternatives", "beside", "all_reduce", "choice", "advice" and
/// "warning" to the document of `plan`; nulls without a forecast.
void add_forecast(Json& plan, const std::optional<FleetForecast>& forecast);

}  // namespace gv
