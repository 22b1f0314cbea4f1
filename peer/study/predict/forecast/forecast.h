#pragma once

#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "graph/predict/rates/stable_rates.h"
#include "peer/fleet/json/json.h"
#include "peer/runtime/assembly/assembly.h"
#include "peer/study/predict/forecast/expectation.h"
#include "peer/study/predict/forecast/mixing_law.h"

namespace gv {

/// The predicted effect of a topology on a fleet, when it has settled. Calibrated: at the end of
/// the run, with losses above descent without noise instead of the optimum. Unknown values are
/// empty.
struct Forecast {
  std::string topology;             ///< topology or schedule; "all-reduce" for ring all-reduce
  std::size_t degree = 0;           ///< maximum neighbours that send to a peer in a round
  std::uint64_t period = 1;         ///< period of W; 0: random
  double slem = 0, gap = 1;         ///< schedules: factor of a disagreement per round, 1 - slem
  double rounds_to_thousandth = 1;  ///< pure averaging; infinite if never
  std::optional<double> left_after_ten;  ///< fraction of a random disagreement after ten rounds
  std::optional<double> n_eff;           ///< effective neighbours at the discount 0.99
  double bytes_per_round = 0;            ///< bytes sent by the busiest peer
  std::optional<double> consensus;       ///< (1/n) sum_i ||x_i - mean||^2
  std::optional<double> excess_mean;     ///< mean model's loss above the optimum
  std::optional<double> excess_local;    ///< mean of the local models' losses above the optimum
  /// Calibrated: uncertainty of excess_mean, the part of excess_mean that graph and order cause
  /// (all-reduce would not have it), and the uncertainty of that part.
  std::optional<double> excess_mean_error, graph_part, graph_part_error;
  std::vector<std::pair<std::string, double>> mean_parts;  ///< parts of excess_mean, to first order
  /// Calibrated: largest rate x curvature of the run, if it is too large for the errors to hold.
  std::optional<double> beyond;
  std::optional<double> rounds_to_target;   ///< rounds of excess_local to target; infinite: never
  std::optional<StableRates> stable_rates;  ///< only for this fleet's own graph
  std::optional<double> seconds_per_round;  ///< by the alpha-beta model of the fleet's network

  /// Largest rate x L for which the errors of calibrated losses were shown to hold
  /// (experiments/prediction).
  static constexpr double trusted = 0.3;

  /// Returns whether a value is at least four times its uncertainty.
  static bool resolved(double value, double error) { return std::abs(value) >= 4 * error; }
  /// Returns nothing if one of the two factors is empty.
  std::optional<double> seconds_to_target() const;
};

/// The forecast of this fleet, and those of other graphs on the same peers, best first.
struct FleetForecast {
  Forecast own;
  std::vector<Forecast> others;
  std::optional<Forecast> all_reduce;  ///< this fleet with ring all-reduce
  /// The fleet with some keys changed, under the same calibration.
  struct Beside {
    std::string sets;
    Forecast forecast;
  };
  std::vector<Beside> beside;
  std::optional<Forecast> choice;  ///< the forecast that reaches the target first, in seconds
  std::size_t max_degree = 0;
  std::optional<double> target;  ///< target of the local models' excess loss
  std::string basis;             ///< what losses average over, on which samples; empty if unknown
  std::string advice;            ///< one line, with the reason
  std::string warning;           ///< empty if there is none
  NetworkShape network_shape = NetworkShape::per_nic;  ///< shape for predicted seconds
  bool calibrated = false;  ///< losses at the end of the run; the target is a training loss
};

/// Lower local excess loss is better; if unknown, a larger gap.
bool better(const Forecast& a, const Forecast& b);
/// Sets the choice (first at the target), keeps the best alternatives, best first, and the advice.
void advise(FleetForecast& forecast);

struct ForecastOptions {
  std::size_t max_degree = 0;  ///< maximum degree of alternatives; 0: this fleet's, at most 16
  std::optional<double> target = std::nullopt;  ///< none: 1.1 times the settled loss
  bool schedules = true;                        ///< alternatives include schedules
};

/// Returns the forecast of a fleet whose method is all-reduce: a row without alternatives.
FleetForecast forecast_of_all_reduce(const Assembly& fleet);
/// Returns only the fleet's own row, for a fleet that averages or sums. `bytes_per_round`: bytes
/// sent by the busiest peer if the fleet averages.
Forecast forecast_alone(const Assembly& fleet, double bytes_per_round);

/// Forecasts this fleet and alternatives. `bytes_per_round`: bytes sent by this fleet's busiest
/// peer; those of the alternatives follow from their receivers. Empty if peers do not average over
/// the topology (all-reduce, isolated).
std::optional<FleetForecast> forecast(const Assembly& fleet,
                                      double bytes_per_round,
                                      const ForecastOptions& options);

/// A graph or schedule that the fleet averages over, or could average over.
struct Candidate {
  std::string name;
  std::shared_ptr<const MixingSchedule> rounds;  ///< period 1: one W for all rounds
  MixingLaw law;
  std::size_t degree = 0;           ///< maximum neighbours that send to a peer in a round
  double slem = 0, gap = 1;         ///< schedules: factor of a disagreement per round, 1 - slem
  double rounds_to_thousandth = 1;  ///< pure averaging; infinite if never
};

/// Returns the weights of the other candidates: the fleet's if any undirected graph can have them,
/// otherwise metropolis.
std::string weights_for_all(const std::string& weights);

Candidate own_candidate(const Assembly& fleet);
/// Returns graphs of at most `max_degree` on the same peers, the ten that average fastest, then the
/// schedules of graph/schedules.h that need no parameters. Excludes the fleet's own.
std::vector<Candidate> other_candidates(const Assembly& fleet, std::size_t max_degree);

/// Returns one line with the graph to choose and the reason. Empty without alternatives.
std::string advice_of(const FleetForecast& f);
/// Returns a warning about a rate that makes the fleet diverge; empty if it does not.
std::string warning_of(const QuadraticProblem& problem, const Forecast& own);
/// Returns warning_of for a fleet that is about to start; empty if the theory does not apply.
std::string rate_warning(const Assembly& fleet);

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
