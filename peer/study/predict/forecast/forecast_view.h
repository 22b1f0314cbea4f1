#pragma once

#include <optional>
#include <string>

#include "graph/predict/stable_rates.h"
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

/// "rates below 0.947 and between 1.792 and 2.806", or "no rate". Limits are rounded to four digits
/// into the window, so that a rate that follows the text is stable.
std::string to_text(const StableRates& rates);

/// Returns why a rate is unstable, with the nearest limit. `what` is "" or " of SOMETHING".
std::string unstable_text(const StableRates& rates, double rate, const std::string& what);

/// The keys `stable_rates` (pairs of low and high, in ascending order), `stability_least` and
/// `stability_limit` (those of the first pair); null where nothing is known, or no rate is stable.
Json to_json(const std::optional<StableRates>& rates);

}  // namespace gv
