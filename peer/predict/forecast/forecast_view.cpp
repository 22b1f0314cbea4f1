#include "peer/predict/forecast/forecast_view.h"

#include <cmath>

#include <fmt/format.h>

#include "peer/report/screen.h"

namespace gv {
namespace {

std::string short_number(const std::optional<double>& value) {
  return value ? fmt::format("{:.4g}", *value) : "-";
}

std::string rounds(const std::optional<double>& value) {
  if (!value) return "-";
  return std::isfinite(*value) ? fmt::format("{:.0f}", *value) : "never";
}

std::string milliseconds(const std::optional<double>& seconds) {
  return seconds ? fmt::format("{:.4g} ms", 1e3 * *seconds) : "-";
}

/// With a ~ where it says no more than that it is small.
std::string mean_excess(const Forecast& f) {
  const bool small =
      f.excess_mean && f.excess_mean_error && !f.resolved(*f.excess_mean, *f.excess_mean_error);
  return fmt::format("{}{}", small ? "~" : "", short_number(f.excess_mean));
}

std::string row(const Forecast& f, const std::string& name) {
  return fmt::format(
      "  {:<34} {:>6} {:>10.6f} {:>8} {:>8} {:>7} {:>10} {:>10} {:>10} {:>9} {:>10} {:>10}\n",
      name,
      f.degree,
      f.gap,
      rounds(f.rounds_to_thousandth),
      short_number(f.left_after_ten),
      short_number(f.n_eff),
      short_number(f.consensus),
      mean_excess(f),
      short_number(f.excess_local),
      rounds(f.rounds_to_target),
      bytes_text(f.bytes_per_round),
      milliseconds(f.seconds_per_round));
}

std::string table(const FleetForecast& f) {
  std::string text = fmt::format(
      "  {:<34} {:>6} {:>10} {:>8} {:>8} {:>7} {:>10} {:>10} {:>10} {:>9} {:>10} {:>10}\n",
      "graph",
      "degree",
      "gap",
      "to 1e-3",
      "after 10",
      "n_eff",
      "consensus",
      "mean",
      "local",
      "to target",
      "sent/round",
      "time/round");
  text += row(f.own, f.own.topology);
  for (const FleetForecast::Beside& other : f.beside) text += row(other.forecast, other.sets);
  for (const Forecast& other : f.others) text += row(other, other.topology);
  if (f.all_reduce) text += row(*f.all_reduce, f.all_reduce->topology);
  return text;
}

/// The two figures of the mean model's excess, and how well they are known.
std::string mean_lines(const Forecast& f) {
  if (!f.excess_mean || !f.excess_mean_error) return "";
  const auto verdict = [](double value, double error) {
    return Forecast::resolved(value, error) ? "" : ", below what can be told from nothing";
  };
  std::string text = fmt::format("mean   {:.2g} +- {:.1g} above descent without noise{}\n",
                                 *f.excess_mean,
                                 *f.excess_mean_error,
                                 verdict(*f.excess_mean, *f.excess_mean_error));
  if (!f.graph_part || !f.graph_part_error) return text;
  return text + fmt::format("       {:+.2g} +- {:.1g} of it by graph and order{}\n",
                            *f.graph_part,
                            *f.graph_part_error,
                            verdict(*f.graph_part, *f.graph_part_error));
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

}  // namespace

std::string forecast_text(const FleetForecast& f) {
  const bool alone = f.others.empty() && f.max_degree == 0;
  std::string text = fmt::format("ahead  {}", f.own.topology);
  text += alone ? ":\n" : fmt::format(", and other graphs of degree {} or less:\n", f.max_degree);
  text += table(f);
  text += fmt::format(
      "  to 1e-3: rounds of averaging until a disagreement is a thousandth; after 10: what ten "
      "rounds leave;\n  n_eff: effective neighbours at discount 0.99; time/round: on this "
      "`network` ({})",
      name_of(f.network_shape));
  if (f.calibrated) {
    text +=
        "; consensus, mean, local: the distance to the mean at the\n  end of the run, and how far "
        "the training losses of mean and local models then lie above\n  gradient descent without "
        "noise";
  } else if (f.own.excess_local) {
    text +=
        "; consensus, mean, local: where the distance to the mean\n  and the excess losses of mean "
        "and local models settle";
  }
  if (f.target) {
    text += fmt::format(
        "; target: a local {} loss of {:.4g}", f.calibrated ? "training" : "excess", *f.target);
  }
  text += "\n";
  text += mean_lines(f.own);
  if (const auto& c = f.choice) {
    text += fmt::format("first  {} in {:.3g} s ({}): {:.0f} rounds of {}\n",
                        c->topology,
                        *c->seconds_to_target(),
                        name_of(f.network_shape),
                        *c->rounds_to_target,
                        milliseconds(c->seconds_per_round));
  }
  if (!f.advice.empty()) text += fmt::format("advice {}\n", f.advice);
  if (!f.warning.empty()) text += fmt::format("warning: {}\n", f.warning);
  return text;
}

Json predicted_json(const Forecast& f) {
  const auto resolved = [](const std::optional<double>& value, const std::optional<double>& error) {
    return value && error ? Json(Forecast::resolved(*value, *error)) : Json(nullptr);
  };
  Json parts = Json::object();
  for (const auto& [name, value] : f.mean_parts) parts[name] = value;
  return {{"consensus", f.consensus},
          {"excess_loss_mean", f.excess_mean},
          {"excess_loss_mean_parts", parts},
          {"excess_loss_mean_error", f.excess_mean_error},
          {"excess_loss_mean_resolved", resolved(f.excess_mean, f.excess_mean_error)},
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
  plan["predicted"] = forecast ? predicted_json(forecast->own) : Json(nullptr);
  plan["target"] = forecast ? Json(forecast->target) : Json(nullptr);
  plan["stability_limit"] = forecast ? Json(forecast->own.stability_limit) : Json(nullptr);
  Json others = Json::array();
  if (forecast) {
    for (const Forecast& f : forecast->others) others.push_back(alternative(f));
  }
  plan["alternatives"] = others;
  Json beside = Json::array();
  if (forecast) {
    for (const FleetForecast::Beside& f : forecast->beside) {
      Json row{{"sets", f.sets}};
      row.update(alternative(f.forecast));
      beside.push_back(row);
    }
  }
  plan["beside"] = beside;
  const auto row_or_null = [](const std::optional<Forecast>& f) {
    return f ? alternative(*f) : Json(nullptr);
  };
  plan["all_reduce"] = forecast ? row_or_null(forecast->all_reduce) : Json(nullptr);
  plan["choice"] = forecast ? row_or_null(forecast->choice) : Json(nullptr);
  const auto text = [](const std::string& s) { return s.empty() ? Json(nullptr) : Json(s); };
  plan["advice"] = forecast ? text(forecast->advice) : Json(nullptr);
  plan["warning"] = forecast ? text(forecast->warning) : Json(nullptr);
}

}  // namespace gv
