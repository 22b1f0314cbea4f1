#pragma once

#include <optional>
#include <string>

#include "graph/predict/rates/stable_rates.h"
#include "peer/fleet/json/json.h"
#include "peer/study/predict/forecast/forecast.h"

namespace gv {

/// Returns the forecast that `plan` prints: this fleet, a table of the alternatives, the advice.
/// Ends with a newline.
std::string forecast_text(const FleetForecast& forecast);

/// {"consensus", "excess_loss_mean", "excess_loss_local", "rounds_to_target", "bytes_per_round",
/// "seconds_per_round", "seconds_to_target"}, null if unknown or never. If calibrated, also the
/// uncertainty of the mean model's excess, the part of graph and order, and whether each is
/// resolved ("excess_loss_mean_error", "_resolved", "excess_loss_graph", ...).
Json predicted_json(const Forecast& f);

/// Adds "predicted", "target", "alternatives", "beside", "all_reduce", "choice", "advice" and
/// "warning" to the document of `plan`; nulls without a forecast.
void add_forecast(Json& plan, const std::optional<FleetForecast>& forecast);

/// "rates below 0.947 and between 1.792 and 2.806", or "no rate". Limits are rounded to four digits
/// towards the inside, so that a rate that follows the text is stable.
std::string to_text(const StableRates& rates);

/// Returns why a rate is unstable, and the nearest limit. `what` is empty or " of SOMETHING".
std::string unstable_text(const StableRates& rates, double rate, const std::string& what);

/// Returns the keys `stable_rates` (pairs of low and high, ascending), `stability_least` and
/// `stability_limit` (those of the first pair); null if unknown or if no rate is stable.
Json to_json(const std::optional<StableRates>& rates);

}  // namespace gv
