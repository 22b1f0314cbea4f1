#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "optim/mapped.h"
#include "peer/record/report/console.h"
#include "peer/record/report/screen.h"
#include "peer/study/predict/forecast/forecast.h"

namespace gv {
namespace {

/// Returns a paragraph below the table, in 80 columns.
std::string lines(const std::string& text) {
  return wrapped("  " + text, 2) + "\n";
}

/// Adds a ~ to a figure whose digits are not reliable.
std::string marked(bool loose, const std::string& figure) {
  return loose ? fmt::format("~{}", figure) : figure;
}

std::string short_number(const std::optional<double>& value) {
  if (!value) return "-";
  constexpr std::size_t room = 9;  // width of its column
  const std::string text = fmt::format("{:.4g}", *value);
  return text.size() <= room ? text : fmt::format("{:.2g}", *value);
}

std::string rounds(const std::optional<double>& value) {
  if (!value) return "-";
  return std::isfinite(*value) ? fmt::format("{:.0f}", *value) : "never";
}

std::string seconds_cell(const std::optional<double>& seconds) {
  return seconds ? seconds_text(*seconds) : "-";
}

/// Formats two digits if the errors do not hold.
std::string loss_cell(const Forecast& f, const std::optional<double>& value) {
  return f.beyond && value ? fmt::format("~{:.2g}", *value) : short_number(value);
}

/// Adds a ~ if the value is too small compared with its uncertainty.
std::string mean_excess(const Forecast& f) {
  const bool small =
      f.excess_mean && f.excess_mean_error && !f.resolved(*f.excess_mean, *f.excess_mean_error);
  return f.beyond ? loss_cell(f, f.excess_mean) : marked(small, short_number(f.excess_mean));
}

using Rows = std::vector<std::pair<std::string, const Forecast*>>;
using Cell = std::string (*)(const Forecast&);

struct Column {
  const char* name;
  std::size_t width;
  Cell cell;
};

/// Shown instead of mixing figures when losses are known; 80 columns do not hold both.
const Column of_losses[] = {
    {"consensus", 9, [](const Forecast& f) { return loss_cell(f, f.consensus); }},
    {"mean", 9, mean_excess},
    {"local", 9, [](const Forecast& f) { return loss_cell(f, f.excess_local); }},
    {"target", 7, [](const Forecast& f) {
       return marked(f.beyond && f.rounds_to_target, rounds(f.rounds_to_target));
     }}};
const Column of_mixing[] = {
    {"degree", 6, [](const Forecast& f) { return std::to_string(f.degree); }},
    {"gap", 8, [](const Forecast& f) { return fmt::format("{:.6f}", f.gap); }},
    {"to 1e-3", 7, [](const Forecast& f) { return rounds(f.rounds_to_thousandth); }},
    {"n_eff", 7, [](const Forecast& f) { return short_number(f.n_eff); }}};
const Column of_costs[] = {
    {"sent", 8, [](const Forecast& f) { return bytes_text(f.bytes_per_round); }},
    {"a round", 8, [](const Forecast& f) { return seconds_cell(f.seconds_per_round); }}};

constexpr std::size_t name_columns = 22;

std::vector<Column> columns_for(const Rows& rows) {
  const bool losses = std::ranges::any_of(
      rows, [](const auto& row) { return row.second->consensus || row.second->excess_local; });
  std::vector<Column> columns;
  if (losses)
    columns.assign(std::begin(of_losses), std::end(of_losses));
  else
    columns.assign(std::begin(of_mixing), std::end(of_mixing));
  columns.insert(columns.end(), std::begin(of_costs), std::end(of_costs));
  return columns;
}

/// Puts a name that is too long for its column on a line of its own.
std::string named(const std::string& name) {
  if (columns_of(name) <= name_columns) return fmt::format("  {:<22}", name);
  return fmt::format("  {}\n  {:<22}", name, "");
}

/// Returns whether the table shows the same figures for both graphs.
bool alike(const Forecast& a, const Forecast& b) {
  return a.period == 1 && b.period == 1 && a.degree == b.degree && std::abs(a.gap - b.gap) < 1e-9 &&
         short_number(a.n_eff) == short_number(b.n_eff) && a.bytes_per_round == b.bytes_per_round &&
         short_number(a.excess_local) == short_number(b.excess_local);
}

std::string table(const FleetForecast& f) {
  Rows rows{{f.own.topology, &f.own}};
  std::string same;
  for (const FleetForecast::Beside& other : f.beside)
    rows.emplace_back(other.sets, &other.forecast);
  for (const Forecast& other : f.others) {
    if (alike(other, f.own))
      same += (same.empty() ? "" : ", ") + other.topology;
    else
      rows.emplace_back(other.topology, &other);
  }
  if (f.all_reduce) rows.emplace_back(f.all_reduce->topology, &*f.all_reduce);
  const std::vector<Column> columns = columns_for(rows);
  std::string text = named("graph");
  for (const Column& column : columns) text += fmt::format(" {:>{}}", column.name, column.width);
  text += "\n";
  for (const auto& [name, forecast] : rows) {
    text += named(name);
    for (const Column& column : columns)
      text += fmt::format(" {:>{}}", column.cell(*forecast), column.width);
    text += "\n";
  }
  if (!same.empty()) text += lines("as good as " + f.own.topology + ": " + same);
  return text;
}

/// Returns the two figures of the mean model's excess with their uncertainties.
std::string mean_lines(const Forecast& f) {
  if (!f.excess_mean || !f.excess_mean_error) return "";
  if (f.beyond)
    return wrapped(fmt::format("mean   ~{:.2g} above descent without noise; ~: rate x L gets to "
                               "{:.2g}, and beyond {:g} the errors are unknown",
                               *f.excess_mean, *f.beyond, Forecast::trusted),
                   7) +
           "\n";
  const auto verdict = [](double value, double error) {
    return Forecast::resolved(value, error) ? "" : ", not significantly different from 0";
  };
  std::string text =
      fmt::format("mean   {:.2g} +- {:.1g} above descent without noise{}\n", *f.excess_mean,
                  *f.excess_mean_error, verdict(*f.excess_mean, *f.excess_mean_error));
  if (!f.graph_part || !f.graph_part_error) return text;
  return text + fmt::format("       {:+.2g} +- {:.1g} of it by graph and order{}\n", *f.graph_part,
                            *f.graph_part_error, verdict(*f.graph_part, *f.graph_part_error));
}

std::string legend(const FleetForecast& f) {
  std::string text;
  if (f.calibrated)
    text =
        "consensus, mean, local: the distance to the mean at the end of the run, and how far the "
        "training losses of mean and local models then lie above gradient descent without noise";
  else if (f.own.excess_local)
    text =
        "consensus, mean, local: values at which the distance to the mean and the excess losses of "
        "mean and local models settle";
  else
    text =
        "to 1e-3: rounds of averaging until a disagreement is a thousandth; n_eff: effective "
        "neighbours at discount 0.99";
  if (f.target)
    text += fmt::format("; target: a local {} loss of {:.4g}", f.calibrated ? "training" : "excess",
                        *f.target);
  if (!f.basis.empty()) text += "; losses: " + f.basis;
  return text +
         fmt::format("; sent: by the busiest peer in a round; a round: on this `network` ({})",
                     name_of(f.network_shape));
}

Json alternative(const Forecast& f) {
  return {{"topology", f.topology},
          {"degree", f.degree},
          {"period", f.period},
          {"slem", f.slem},
          {"gap", f.gap},
          {"rounds_to_thousandth", f.rounds_to_thousandth},
          {"left_after_ten", f.left_after_ten},
          {"n_eff", f.n_eff},
          {"predicted", predicted_json(f)}};
}

constexpr std::size_t most_windows = 4;  ///< maximum in a text

/// Rounds to four digits, towards stable rates; 2 - 1e-12 counts as 2.
std::string rounded(double rate, double towards) {
  const double digit = std::pow(10, std::floor(std::log10(rate)) - 3);
  const double scaled = rate / digit;
  const double nearest = std::round(scaled);
  const bool exact = std::abs(scaled - nearest) < 1e-8 * scaled;
  return fmt::format("{:.4g}", digit * (exact         ? nearest
                                        : towards < 0 ? std::floor(scaled)
                                                      : std::ceil(scaled)));
}

std::string to_text(const RateWindow& w) {
  if (w.low == 0) return "below " + rounded(w.high, -1);
  return "between " + rounded(w.low, 1) + " and " + rounded(w.high, -1);
}

}  // namespace

std::string forecast_text(const FleetForecast& f) {
  const bool alone = f.others.empty() && f.max_degree == 0;
  std::string text = fmt::format("ahead  {}", f.own.topology);
  text += alone ? ":\n" : fmt::format(", and other graphs of degree {} or less:\n", f.max_degree);
  text += table(f);
  text += lines(legend(f));
  text += mean_lines(f.own);
  if (const auto& c = f.choice) {
    // A single verdict: seconds to the target include both averaging and network.
    text += fmt::format("first  {} in {} ({}): {:.0f} rounds of {}\n", c->topology,
                        seconds_text(*c->seconds_to_target()), name_of(f.network_shape),
                        *c->rounds_to_target, seconds_cell(c->seconds_per_round));
  } else if (!f.advice.empty()) {
    text += wrapped("advice " + f.advice, 7) + "\n";
  }
  if (!f.warning.empty()) text += wrapped("warning: " + f.warning, 7) + "\n";
  return text;
}

Json predicted_json(const Forecast& f) {
  const auto resolved = [](const std::optional<double>& value, const std::optional<double>& error) {
    return value && error ? Json(Forecast::resolved(*value, *error)) : Json(nullptr);
  };
  return {{"consensus", f.consensus},
          {"excess_loss_mean", f.excess_mean},
          {"excess_loss_mean_parts", Json::members(f.mean_parts)},
          {"excess_loss_mean_error", f.excess_mean_error},
          {"excess_loss_mean_resolved", resolved(f.excess_mean, f.excess_mean_error)},
          {"errors_hold", f.excess_mean_error ? Json(!f.beyond) : Json(nullptr)},
          {"excess_loss_graph", f.graph_part},
          {"excess_loss_graph_error", f.graph_part_error},
          {"excess_loss_graph_resolved", resolved(f.graph_part, f.graph_part_error)},
          {"excess_loss_local", f.excess_local},
          {"rounds_to_target", f.rounds_to_target},
          {"bytes_per_round", f.bytes_per_round},
          {"seconds_per_round", f.seconds_per_round},
          {"seconds_to_target", f.seconds_to_target()}};
}

void add_forecast(Json& plan, const std::optional<FleetForecast>& forecast) {
  const FleetForecast f = forecast.value_or(FleetForecast{});
  const auto row_or_null = [](const std::optional<Forecast>& row) {
    return row ? alternative(*row) : Json(nullptr);
  };
  const auto text = [](const std::string& s) { return s.empty() ? Json(nullptr) : Json(s); };
  plan["predicted"] = forecast ? predicted_json(f.own) : Json(nullptr);
  plan["target"] = f.target;
  plan["basis"] = forecast ? Json(f.basis) : Json(nullptr);
  plan.update(to_json(f.own.stable_rates));
  plan["alternatives"] = mapped(f.others, alternative);
  plan["beside"] = mapped(f.beside, [](const FleetForecast::Beside& other) {
    Json row{{"sets", other.sets}};
    row.update(alternative(other.forecast));
    return row;
  });
  plan["all_reduce"] = row_or_null(f.all_reduce);
  plan["choice"] = row_or_null(f.choice);
  plan["advice"] = text(f.advice);
  plan["warning"] = text(f.warning);
}

std::string to_text(const StableRates& rates) {
  if (rates.windows.empty()) return "no rate";
  std::vector<std::string> parts;
  for (std::size_t k = 0; k < std::min(most_windows, rates.windows.size()); ++k)
    parts.push_back(to_text(rates.windows[k]));
  if (rates.windows.size() > most_windows)
    parts.push_back(fmt::format("in {} windows more, up to {}", rates.windows.size() - most_windows,
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
    return fmt::format("rate {:g} is not above {:.6g}, the least stable rate{}", rate, first.low,
                       what);
  return fmt::format("rate {:g} is not stable: the stable ones{} are {}", rate, what,
                     to_text(rates));
}

Json to_json(const std::optional<StableRates>& rates) {
  Json out{{"stability_least", nullptr}, {"stability_limit", nullptr}, {"stable_rates", nullptr}};
  if (!rates) return out;
  out["stable_rates"] = mapped(rates->windows, [](const RateWindow& w) {
    return std::vector<double>{w.low, w.high};
  });
  if (rates->windows.empty()) return out;
  out["stability_least"] = rates->windows.front().low;
  out["stability_limit"] = rates->windows.front().high;
  return out;
}

}  // namespace gv
