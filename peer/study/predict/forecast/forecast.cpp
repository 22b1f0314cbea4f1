#include "peer/study/predict/forecast/forecast.h"

#include <algorithm>
#include <limits>
#include <stdexcept>

#include <fmt/format.h>

#include "graph/best_graphs.h"
#include "graph/formats/graph_file.h"
#include "graph/predict/rates/mixing_rates.h"
#include "graph/schedule/schedule.h"
#include "graph/schedule/schedule_rate.h"
#include "graph/schedules.h"
#include "graph/spectrum/spectrum.h"
#include "graph/topologies.h"
#include "graph/weights.h"
#include "peer/study/predict/forecast/round_prediction.h"

namespace gv {
namespace {

constexpr double endless = std::numeric_limits<double>::infinity();
constexpr std::size_t usual_degree = 16;  ///< default limit for the degree of alternatives
constexpr std::size_t n_alternatives = 5;
constexpr PeerId seconds_limit = 1024;  ///< most peers for which rounds are timed
constexpr std::uint64_t forecast_rounds = 1'000'000;

std::optional<double> known(const Estimate& e) {
  if (!(e.error <= 0.1 * std::abs(e.value))) return std::nullopt;
  return e.value;
}

void set_losses(Forecast& f, const Stationary& s) {
  f.consensus = known(s.consensus);
  f.excess_mean = known(s.excess_mean);
  f.excess_local = known(s.excess_local);
}

/// Returns the figures of all-reduce that the graph does not change.
Forecast all_reduce_row(const Assembly& fleet, const RoundPrediction& round) {
  Forecast f;
  f.topology = "all-reduce";
  f.degree = 2;
  f.n_eff = fleet.fleet.trainers();
  f.left_after_ten = 0;
  f.bytes_per_round = round.bytes_per_round;
  f.seconds_per_round = round.seconds_per_round;
  return f;
}

/// Makes forecasts for one fleet on different graphs.
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

  /// All-reduce averages all gradients in each round, which is a complete graph in order atc.
  std::optional<Forecast> of_all_reduce() const {
    const PeerId n = fleet_.fleet.trainers();
    const bool plain = fleet_.fleet.local_steps == 1;
    if (n < 2 || !plain || n > seconds_limit) return std::nullopt;
    Forecast f = all_reduce_row(fleet_, predict_all_reduce_round(fleet_));
    if (!problem_) return f;
    QuadraticProblem averaged = *problem_;
    for (QuadraticProblem::Part& part : averaged.parts) part.fleet.order = "atc";
    const Modes modes{n, {{{{0}, n - 1.0}}}, {}, "closed form"};
    if (const auto s = averaged.settled(modes)) set_losses(f, *s);
    if (!target_ || !f.excess_local || !averaged.after(modes, 0)) return f;
    const auto rounds = averaged.rounds_to(modes, *target_, forecast_rounds);
    f.rounds_to_target = rounds ? static_cast<double>(*rounds) : endless;
    return f;
  }

  /// Returns 1.1 times the loss at which the fleet settles, unless the loss is lower at the start.
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

/// Returns what losses average over: minima are one of many draws; a run has its seed's.
std::string basis_of(const QuadraticProblem& problem) {
  return problem.parts.front().fleet.spread > 0
             ? "means over all draws of the noise and of the peers' minima (data.spread); for the "
               "minima of this seed `simulate` computes what is expected"
             : "means over all draws of the noise";
}

/// Returns the forecast that reaches the target first, in seconds; nothing if none does.
std::optional<Forecast> first_there(const FleetForecast& f) {
  std::vector<const Forecast*> all{&f.own};
  for (const Forecast& other : f.others) all.push_back(&other);
  if (f.all_reduce) all.push_back(&*f.all_reduce);
  const auto seconds = [](const Forecast* c) { return c->seconds_to_target().value_or(endless); };
  const Forecast* first = *std::ranges::min_element(all, {}, seconds);
  if (!std::isfinite(seconds(first))) return std::nullopt;
  return *first;
}

constexpr PeerId search_limit = 4096;  ///< most peers for which other graphs are searched
constexpr PeerId sample_limit = 128;   ///< most peers for schedules that are sampled
constexpr std::size_t n_graphs = 10;
constexpr double own_work = 3e9, other_work = 3e8;  ///< multiplications

std::size_t most_heard(const MixingSchedule& schedule) {
  const bool random = schedule.period() == 0;
  const std::uint64_t rounds = random ? (schedule.size() > 512 ? 4 : 64) : schedule.period();
  std::size_t most = 0;
  for (std::uint64_t k = 0; k < rounds; ++k) {
    for (PeerId i = 0; i < schedule.size(); ++i)
      most = std::max(most, schedule.row(k, i).peers.size());
  }
  return most;
}

Candidate of_graph(const Topology& topology, const MixingMatrix& w, const std::string& weights) {
  const TopologySpec spec = spec_of_name(topology).value_or(file_topology(""));
  const Spectrum s = spectrum(w, &spec, weights);
  const auto rounds = std::make_shared<PeriodicSchedule>(std::vector<MixingMatrix>{w});
  return {.name = topology.name,
          .rounds = rounds,
          .law = MixingLaw(w, spec, weights),
          .degree = most_heard(*rounds),
          .slem = s.slem,
          .gap = s.gap,
          .rounds_to_thousandth = std::ceil(rounds_to(s.slem < 1e-12 ? 1 : s.gap, 1e-3))};
}

Candidate of_schedule(const ScheduleSpec& spec,
                      std::shared_ptr<const MixingSchedule> rounds,
                      double most_work) {
  const double n = rounds->size();
  const auto samples = static_cast<int>(std::clamp(1e7 / (n * n), 20.0, 4000.0));
  const ScheduleRate rate = schedule_rate(*rounds, samples);
  return {.name = to_string(spec),
          .rounds = rounds,
          .law = MixingLaw(spec, rounds, most_work),
          .degree = most_heard(*rounds),
          .slem = rate.per_round,
          .gap = 1 - rate.per_round,
          .rounds_to_thousandth = rate.rounds_to(1e-3)};
}

void add_graphs(const Assembly& fleet, std::size_t max_degree, std::vector<Candidate>& found) {
  GraphSearch search;
  search.peers = fleet.fleet.trainers();
  search.max_degree = static_cast<PeerId>(max_degree);
  search.weights = weights_for_all(fleet.fleet.weights);
  for (const GraphCandidate& c : best_graphs(search)) {
    if (found.size() == n_graphs) break;
    const Topology t = build(c.spec.topology, search.peers);
    if (t.name == fleet.topology.name) continue;
    found.push_back(of_graph(t, mixing_matrix(search.weights, t), search.weights));
  }
}

/// Returns whether both specs are the same schedule, up to the seed.
bool is_same_choice(const ScheduleSpec& own, const ScheduleSpec& other) {
  if (own.family != other.family) return false;
  return !own.parameters.has("k") || own.parameters.count("k") == other.parameters.count("k");
}

void add_schedules(const Assembly& fleet, std::size_t max_degree, std::vector<Candidate>& found) {
  const PeerId n = fleet.fleet.trainers();
  std::vector<std::string> names{"one-peer-exponential", "random-matching", "od-equi-dyn"};
  if (n <= sample_limit) names.emplace_back("ou-equi-dyn");
  for (std::size_t k = 1; k <= std::min<std::size_t>(max_degree, 4) && n <= sample_limit; ++k)
    names.push_back(fmt::format("base:k={}", k));
  for (const std::string& name : names) {
    const ScheduleSpec spec = parse_schedule(name);
    if (fleet.fleet.schedule && is_same_choice(*fleet.fleet.schedule, spec)) continue;
    try {
      Candidate c = of_schedule(spec, make_schedule(spec, n), other_work);
      // Base graphs of some k equal the sequence of a smaller k.
      const bool other_k = spec.parameters.has("k") && c.degree < spec.parameters.count("k");
      if (c.degree <= max_degree && c.slem < 1 && !other_k) found.push_back(std::move(c));
    } catch (const std::invalid_argument&) {
      continue;  // impossible with this number of peers
    }
  }
}

/// Returns the verb for losses: a calibration predicts the end of the run, not a settled state.
const char* come_to(const FleetForecast& f) {
  return f.calibrated ? "end the run" : "settle";
}

std::string traffic(const Forecast& own, const Forecast& other) {
  const double factor = other.bytes_per_round / own.bytes_per_round;
  return std::abs(factor - 1) < 0.005 ? "at the same traffic"
                                      : fmt::format("at {:.3g} times the traffic", factor);
}

/// Returns the least traffic with at most 5 % more loss; null unless it saves a third.
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

std::optional<double> Forecast::seconds_to_target() const {
  if (!seconds_per_round || !rounds_to_target) return std::nullopt;
  return *seconds_per_round * *rounds_to_target;
}

bool better(const Forecast& a, const Forecast& b) {
  const double loss_a = a.excess_local.value_or(endless);
  const double loss_b = b.excess_local.value_or(endless);
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
  result.own = all_reduce_row(fleet, predict_round(fleet));
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

std::string weights_for_all(const std::string& weights) {
  const WeightRule* rule = find_weight_rule(weights);
  return rule != nullptr && rule->compares_graphs ? weights : "metropolis";
}

Candidate own_candidate(const Assembly& fleet) {
  if (fleet.schedule) return of_schedule(*fleet.fleet.schedule, fleet.schedule, own_work);
  return of_graph(fleet.topology, *fleet.w, fleet.fleet.weights);
}

std::vector<Candidate> other_candidates(const Assembly& fleet, std::size_t max_degree) {
  const PeerId n = fleet.fleet.trainers();
  std::vector<Candidate> found;
  if (n < 2 || n > search_limit || max_degree < 1) return found;
  add_graphs(fleet, max_degree, found);
  add_schedules(fleet, max_degree, found);
  return found;
}

std::string advice_of(const FleetForecast& f) {
  if (f.others.empty()) return "";
  const Forecast& best = f.others.front();
  const Forecast& own = f.own;
  const bool losses = best.excess_local.has_value() && own.excess_local.has_value();
  if (losses && *best.excess_local < 0.98 * *own.excess_local) {
    return fmt::format("{}: local models {} at an excess loss of {:.4g} instead of {:.4g}, {}",
                       best.topology, come_to(f), *best.excess_local, *own.excess_local,
                       traffic(own, best));
  }
  if (!losses && best.rounds_to_thousandth < 0.9 * own.rounds_to_thousandth) {
    return fmt::format(
        "{}: a disagreement is a thousandth after {:.0f} rounds instead of {:.0f}, {}",
        best.topology, best.rounds_to_thousandth, own.rounds_to_thousandth, traffic(own, best));
  }
  if (const Forecast* other = thriftier(f)) {
    return fmt::format("{}: local models {} at {:.4g}, hardly above the {:.4g} of {}, {}",
                       other->topology, come_to(f), *other->excess_local, *own.excess_local,
                       own.topology, traffic(own, *other));
  }
  return fmt::format("keep {}: no other graph of degree {} or less is clearly better", own.topology,
                     f.max_degree);
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
