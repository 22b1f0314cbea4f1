#include "peer/study/predict/forecast/stable_rates_view.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gv {
namespace {

constexpr std::size_t most_windows = 4;  ///< in a text

/// Rounds to four digits, towards the side on which rates are stable; 2 - 1e-12 counts as 2.
std::string rounded(double rate, double towards) {
  const double digit = std::pow(10, std::floor(std::log10(rate)) - 3);
  const double scaled = rate / digit;
  const double nearest = std::round(scaled);
  const bool exact = std::abs(scaled - nearest) < 1e-8 * scaled;
  return fmt::format("{:.4g}",
                     digit * (exact         ? nearest
                              : towards < 0 ? std::floor(scaled)
                                            : std::ceil(scaled)));
}

std::string to_text(const RateWindow& w) {
  if (w.low == 0) return "below " + rounded(w.high, -1);
  return "between " + rounded(w.low, 1) + " and " + rounded(w.high, -1);
}

}  // namespace

std::string to_text(const StableRates& rates) {
  if (rates.windows.empty()) return "no rate";
  std::vector<std::string> parts;
  for (std::size_t k = 0; k < std::min(most_windows, rates.windows.size()); ++k)
    parts.push_back(to_text(rates.windows[k]));
  if (rates.windows.size() > most_windows)
    parts.push_back(fmt::format("in {} windows more, up to {}",
                                rates.windows.size() - most_windows,
                                rounded(rates.windows.back().high, -1)));
  const std::string last = parts.back();
  parts.pop_back();
  if (parts.empty()) return "rates " + last;
  return fmt::format("rates {} and {}", fmt::join(parts, ", "), last);
}

std::string unstable_text(const StableRates& rates, double rate, const std::string& what) {
  if (rates.windows.empty()) return fmt::format("no rate{} is stable", what);
  const RateWindow& first = rates.windows.front();
  const RateWindow& last = rates.windows.back();
  if (rate >= last.high)
    return fmt::format("rate {:g} is beyond the stability limit {:.6g}{}", rate, last.high, what);
  if (rate <= first.low)
    return fmt::format(
        "rate {:g} is not above {:.6g}, where the stable rates{} begin", rate, first.low, what);
  return fmt::format(
      "rate {:g} is not stable: the stable ones{} are {}", rate, what, to_text(rates));
}

Json to_json(const std::optional<StableRates>& rates) {
  Json out{{"stability_least", nullptr}, {"stability_limit", nullptr}, {"stable_rates", nullptr}};
  if (!rates) return out;
  out["stable_rates"] = Json::array();
  for (const RateWindow& w : rates->windows) {
    Json window = Json::array();
    window.push_back(w.low);
    window.push_back(w.high);
    out["stable_rates"].push_back(std::move(window));
  }
  if (rates->windows.empty()) return out;
  out["stability_least"] = rates->windows.front().low;
  out["stability_limit"] = rates->windows.front().high;
  return out;
}

}  // namespace gv
