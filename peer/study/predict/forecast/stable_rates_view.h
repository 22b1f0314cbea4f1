#pragma once

#include <optional>
#include <string>

#include "graph/predict/stable_rates.h"
#include "peer/fleet/json/json.h"

namespace gv {

/// "rates below 0.947 and between 1.792 and 2.806", or "no rate". Limits are rounded to four digits
/// into the window, so that a rate that follows the text is stable.
std::string to_text(const StableRates& rates);

/// Returns why a rate is unstable, with the nearest limit. `what` is "" or " of SOMETHING".
std::string unstable_text(const StableRates& rates, double rate, const std::string& what);

/// The keys `stable_rates` (pairs of low and high, in ascending order), `stability_least` and
/// `stability_limit` (those of the first pair); null where nothing is known, or no rate is stable.
Json to_json(const std::optional<StableRates>& rates);

}  // namespace gv
