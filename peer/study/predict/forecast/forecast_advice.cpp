#include "peer/study/predict/forecast/forecast_advice.h"

#include <cmath>

#include <fmt/format.h>

#include "peer/study/predict/forecast/candidate.h"
#include "peer/study/predict/forecast/stable_rates_view.h"

namespace gv {
namespace {

/// Says what the losses are of: a calibration knows the end of the run, not where training rests.
const char* come_to(const FleetForecast& f) {
  return f.calibrated ? "end the run" : "settle";
}

std::string traffic(const Forecast& own, const Forecast& other) {
  const double factor = other.bytes_per_round / own.bytes_per_round;
  return std::abs(factor - 1) < 0.005 ? "at the same traffic"
                                      : fmt::format("at {:.3g} times the traffic", factor);
}

/// The least traffic that costs at most 5 % of loss; null unless it saves a third.
const Forecast* thriftier(const FleetForecast& f) {
  const Forecast* least = nullptr;
  for (const Forecast& other : f.others) {
    const bool near = other.excess_local && f.own.excess_local &&
                      *other.excess_local <= 1.05 * *f.own.excess_local;
    const bool saves = other.bytes_per_round < 0.67 * f.own.bytes_per_round;
    if (near && saves && (!least || other.bytes_per_round < least->bytes_per_round)) least = &other;
  }
  return least;
}

}  // namespace

std::string advice_of(const FleetForecast& f) {
  if (f.others.empty()) return "";
  const Forecast& best = f.others.front();
  const Forecast& own = f.own;
  const bool losses = best.excess_local.has_value() && own.excess_local.has_value();
  if (losses && *best.excess_local < 0.98 * *own.excess_local) {
    return fmt::format("{}: local models {} at an excess loss of {:.4g} instead of {:.4g}, {}",
                       best.topology,
                       come_to(f),
                       *best.excess_local,
                       *own.excess_local,
                       traffic(own, best));
  }
  if (!losses && best.rounds_to_thousandth < 0.9 * own.rounds_to_thousandth) {
    return fmt::format(
        "{}: a disagreement is a thousandth after {:.0f} rounds instead of {:.0f}, {}",
        best.topology,
        best.rounds_to_thousandth,
        own.rounds_to_thousandth,
        traffic(own, best));
  }
  if (const Forecast* other = thriftier(f)) {
    return fmt::format("{}: local models {} at {:.4g}, hardly above the {:.4g} of {}, {}",
                       other->topology,
                       come_to(f),
                       *other->excess_local,
                       *own.excess_local,
                       own.topology,
                       traffic(own, *other));
  }
  return fmt::format(
      "keep {}: no other graph of degree {} or less is clearly better", own.topology, f.max_degree);
}

std::string warning_of(const QuadraticProblem& problem, const Forecast& own) {
  const QuadraticFleet& f = problem.parts.front().fleet;
  if (!own.stable_rates || own.stable_rates->contains(problem.rate())) return "";
  const bool lian = f.order == "lian" && f.momentum == 0 && f.local_steps == 1;
  std::string text = unstable_text(*own.stable_rates, problem.rate(), "");
  if (lian && own.period == 1 && own.stable_rates->limit() > 0)
    text += fmt::format(" = (1 + lambda_n) / L, L = {:g}", problem.curvature());
  return text + ": the fleet diverges; lower train.optimizer.lr" + (lian ? ", or order atc" : "");
}

std::string rate_warning(const Assembly& fleet) {
  constexpr PeerId most_peers = 512;
  const std::optional<QuadraticProblem> problem = quadratic_problem(fleet);
  if (!problem || fleet.fleet.trainers() > most_peers) return "";
  const Candidate own = own_candidate(fleet);
  Forecast f;
  f.period = own.rounds->period();
  f.stable_rates = own.law.stable_rates(*problem);
  return warning_of(*problem, f);
}

}  // namespace gv
