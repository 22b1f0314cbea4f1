#pragma once

#include <string>

#include "peer/json/json.h"
#include "peer/predict/forecast/forecast.h"

namespace gv {

/// The lines that `plan` prints: this fleet, a table of the alternatives, the advice. Ends with a
/// newline.
std::string forecast_text(const FleetForecast& forecast);

/// {"consensus", "excess_loss_mean", "excess_loss_local", "rounds_to_target", "bytes_per_round",
/// "seconds_per_round", "seconds_to_target"}, null where not known or never.
Json predicted_json(const Forecast& f);

/// Adds "predicted", "target", "alternatives", "all_reduce", "choice", "advice" and "warning" to
/// the document of `plan`; nulls without a forecast.
void add_forecast(Json& plan, const std::optional<FleetForecast>& forecast);

}  // namespace gv
