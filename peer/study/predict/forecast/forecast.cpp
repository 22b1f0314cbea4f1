#include "peer/study/predict/forecast/forecast.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "peer/study/predict/forecast/candidate.h"
#include "peer/study/predict/forecast/forecast_advice.h"
#include "peer/study/predict/forecast/round_prediction.h"

namespace gv {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr std::size_t usual_degree = 16;  ///< of alternatives to denser graphs, unless asked
constexpr std::size_t n_alternatives = 5;
constexpr PeerId seconds_limit = 1024;  ///< peers whose rounds are timed here
constexpr std::uint64_t most_rounds = 1'000'000;

std::optional<double> known(const Estimate& e) {
  if (!(e.error <= 0.1 * std::abs(e.value))) return std::nullopt;
  return e.value;
}

void set_losses(Forecast& f, const Stationary& s) {
  f.consensus = known(s.consensus);
  f.excess_mean = known(s.excess_mean);
  f.excess_local = known(s.excess_local);
}

/// Makes forecasts of graphs for one fleet.
class Forecaster {
 public:
  Forecaster(const Assembly& fleet, double bytes_per_neighbor)
      : fleet_(fleet),
        problem_(quadratic_problem(fleet)),
        regression_(regression_problem(fleet)),
        bytes_per_neighbor_(bytes_per_neighbor) {}

  const QuadraticProblem* problem() const { return problem_ ? &*problem_ : nullptr; }
  void set_target(std::optional<double> target) { target_ = target; }
  std::optional<double> target() const { return target_; }

  Forecast of(const Candidate& c) const {
    Forecast f;
    f.topology = c.name;
    f.degree = c.degree;
    f.period = c.rounds->period();
    f.slem = c.slem;
    f.gap = c.gap;
    f.rounds_to_thousandth = c.rounds_to_thousandth;
    f.left_after_ten = c.law.left_after(10);
    if (const auto n_eff = c.law.n_eff(0.99)) f.n_eff = known(*n_eff);
    f.bytes_per_round = bytes_per_neighbor_ * busiest_receivers(*c.rounds);
    if (c.rounds->size() <= seconds_limit)
      f.seconds_per_round = predict_gossip_round(fleet_, *c.rounds).seconds_per_round;
    if (regression_ && peers_alike(*c.rounds)) {
      if (const auto s = c.law.settled(regression_->fleet)) set_losses(f, *s);
    }
    if (!problem_) return f;
    if (const auto s = c.law.settled(*problem_)) set_losses(f, *s);
    if (target_ && f.excess_local) f.rounds_to_target = c.law.rounds_to(*problem_, *target_);
    return f;
  }

  /// Every round all gradients are averaged: the complete graph, averaging last.
  std::optional<Forecast> of_all_reduce() const {
    const PeerId n = fleet_.fleet.trainers();
    const bool plain = fleet_.fleet.local_steps == 1;
    if (n < 2 || !plain || n > seconds_limit) return std::nullopt;
    const RoundPrediction round = predict_all_reduce_round(fleet_);
    Forecast f;
    f.topology = "all-reduce";
    f.degree = 2;
    f.n_eff = n;
    f.left_after_ten = 0;
    f.bytes_per_round = round.bytes_per_round;
    f.seconds_per_round = round.seconds_per_round;
    if (!problem_) return f;
    QuadraticProblem averaged = *problem_;
    for (QuadraticProblem::Part& part : averaged.parts) part.fleet.order = "atc";
    const Modes modes{n, {{{{0}, n - 1.0}}}, {}, "closed form"};
    if (const auto s = averaged.settled(modes)) set_losses(f, *s);
    if (!target_ || !f.excess_local || !averaged.after(modes, 0)) return f;
    const auto rounds = averaged.rounds_to(modes, *target_, most_rounds);
    f.rounds_to_target = rounds ? static_cast<double>(*rounds) : infinite;
    return f;
  }

  /// 1.1 times where the fleet settles, unless it begins below.
  std::optional<double> usual_target(const Forecast& own, const Candidate& c) const {
    if (problem() == nullptr || !own.excess_local) return std::nullopt;
    const std::optional<Stationary> start = c.law.start(*problem_);
    const double target = 1.1 * *own.excess_local;
    if (!start || start->excess_local.value <= target) return std::nullopt;
    return target;
  }

 private:
  const Assembly& fleet_;
  std::optional<QuadraticProblem> problem_;
  std::optional<RegressionProblem> regression_;
  double bytes_per_neighbor_;
  std::optional<double> target_;
};

/// Says what the losses are means over: minima are one draw of many, and a run has a seed's own.
std::string basis_of(const QuadraticProblem& problem) {
  return problem.parts.front().fleet.spread > 0
             ? "means over all draws of the noise and of the peers' minima (data.spread); for the "
               "minima of this seed `simulate` says what is expected"
             : "means over all draws of the noise";
}

/// The first at the target, in seconds; none when none gets there.
std::optional<Forecast> first_there(const FleetForecast& f) {
  std::vector<const Forecast*> all{&f.own};
  for (const Forecast& other : f.others) all.push_back(&other);
  if (f.all_reduce) all.push_back(&*f.all_reduce);
  const auto seconds = [](const Forecast* c) { return c->seconds_to_target().value_or(infinite); };
  const Forecast* first = *std::ranges::min_element(all, {}, seconds);
  if (!std::isfinite(seconds(first))) return std::nullopt;
  return *first;
}

}  // namespace

std::optional<double> Forecast::seconds_to_target() const {
  if (!seconds_per_round || !rounds_to_target) return std::nullopt;
  return *seconds_per_round * *rounds_to_target;
}

bool better(const Forecast& a, const Forecast& b) {
  const double loss_a = a.excess_local.value_or(infinite);
  const double loss_b = b.excess_local.value_or(infinite);
  return loss_a != loss_b ? loss_a < loss_b : a.gap > b.gap;
}

void advise(FleetForecast& forecast) {
  forecast.choice = first_there(forecast);
  std::ranges::stable_sort(forecast.others, better);
  if (forecast.others.size() > n_alternatives) forecast.others.resize(n_alternatives);
  forecast.advice = advice_of(forecast);
}

FleetForecast forecast_of_all_reduce(const Assembly& fleet) {
  FleetForecast result;
  result.network_shape = fleet.fleet.network.shape;
  const RoundPrediction round = predict_round(fleet);
  result.own.topology = "all-reduce";
  result.own.degree = 2;
  result.own.n_eff = fleet.fleet.trainers();
  result.own.left_after_ten = 0;
  result.own.bytes_per_round = round.bytes_per_round;
  result.own.seconds_per_round = round.seconds_per_round;
  return result;
}

Forecast forecast_alone(const Assembly& fleet, double bytes_per_round) {
  if (!fleet.is_plain_d_psgd()) return forecast_of_all_reduce(fleet).own;
  const Candidate own = own_candidate(fleet);
  const double receivers = busiest_receivers(*own.rounds);
  return Forecaster(fleet, bytes_per_round / (receivers > 0 ? receivers : 1)).of(own);
}

std::optional<FleetForecast> forecast(const Assembly& fleet,
                                      double bytes_per_round,
                                      const ForecastOptions& options) {
  if (!fleet.is_plain_d_psgd()) return std::nullopt;
  const Candidate own = own_candidate(fleet);
  const double receivers = busiest_receivers(*own.rounds);
  Forecaster forecaster(fleet, bytes_per_round / (receivers > 0 ? receivers : 1));
  FleetForecast result;
  result.network_shape = fleet.fleet.network.shape;
  forecaster.set_target(options.target);
  result.own = forecaster.of(own);
  if (!options.target) {
    forecaster.set_target(forecaster.usual_target(result.own, own));
    result.own = forecaster.of(own);
  }
  result.target = forecaster.target();
  result.max_degree =
      options.max_degree > 0 ? options.max_degree : std::min(result.own.degree, usual_degree);
  for (const Candidate& c : other_candidates(fleet, result.max_degree)) {
    if (options.schedules || c.rounds->period() == 1) result.others.push_back(forecaster.of(c));
  }
  result.all_reduce = forecaster.of_all_reduce();
  advise(result);
  if (const QuadraticProblem* problem = forecaster.problem()) {
    result.basis = basis_of(*problem);
    result.own.stable_rates = own.law.stable_rates(*problem);
    result.warning = warning_of(*problem, result.own);
  }
  return result;
}

}  // namespace gv
