#include "peer/report/forecast.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include <fmt/format.h>

#include "graph/predict_mixing.h"
#include "graph/search.h"
#include "graph/spectrum.h"

namespace gv {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr PeerId dense_limit = 512;       ///< peers whose eigenvalues are all computed here
constexpr PeerId modes_limit = 20'000;    ///< peers whose modes are estimated here
constexpr PeerId search_limit = 4096;     ///< peers for whom other graphs are looked for
constexpr std::size_t usual_degree = 16;  ///< of alternatives to denser graphs, unless asked
constexpr std::size_t n_alternatives = 5, n_looked_at = 10;
constexpr std::uint64_t most_rounds = 1'000'000;

/// A topology with its weights; the name knows its shape.
struct Graph {
  Topology topology;
  MixingMatrix w;
  std::string weights;
};

TopologySpec spec_of(const Topology& t) {
  try {
    return parse_topology(t.name);
  } catch (const std::invalid_argument&) {
    TopologySpec file;
    file.kind = "file";
    return file;
  }
}

/// All modes where they cost little; none for a directed W that is not normal.
std::optional<Modes> cheap_modes(const Graph& g) {
  const PeerId n = g.w.size();
  if (n > modes_limit) return std::nullopt;
  if (auto modes = closed_form_modes(spec_of(g.topology), n, g.weights)) return modes;
  try {
    if (n <= dense_limit) return modes_of(g.w);
  } catch (const std::invalid_argument&) {
    return std::nullopt;
  }
  if (g.w.directed()) return std::nullopt;
  return stochastic_modes(g.w, 4, 200);
}

std::optional<double> known(const Estimate& e) {
  if (!(e.error <= 0.1 * std::abs(e.value))) return std::nullopt;
  return e.value;
}

std::size_t most_heard(const MixingMatrix& w) {
  std::size_t most = 0;
  for (PeerId i = 0; i < w.size(); ++i) most = std::max(most, w.row(i).peers.size());
  return most;
}

std::size_t most_receivers(const MixingMatrix& w) {
  std::size_t most = 0;
  for (PeerId i = 0; i < w.size(); ++i) most = std::max(most, w.row(i).receivers.size());
  return most;
}

/// Everything but the rounds to a target, which the fleet's own forecast may have to give first.
void add_modes(Forecast& f, const Modes& modes, const QuadraticProblem* problem) {
  const double start = disagreement_after(modes, 0).value;
  if (start > 0) f.left_after_ten = std::sqrt(disagreement_after(modes, 10).value / start);
  f.n_eff = known(effective_neighbors(modes, 0.99));
  if (problem == nullptr) return;
  f.stability_limit = problem->stability_limit(modes);
  const std::optional<Stationary> s = problem->settled(modes);
  if (!s) return;
  f.consensus = known(s->consensus);
  f.excess_mean = known(s->excess_mean);
  f.excess_local = known(s->excess_local);
}

/// Makes forecasts of graphs for one fleet.
class Forecaster {
 public:
  Forecaster(const Assembly& fleet, double bytes_per_neighbor)
      : problem_(quadratic_problem(fleet)), bytes_per_neighbor_(bytes_per_neighbor) {}

  const QuadraticProblem* problem() const { return problem_ ? &*problem_ : nullptr; }
  void set_target(std::optional<double> target) { target_ = target; }
  std::optional<double> target() const { return target_; }

  Forecast of(const Graph& g) const {
    const TopologySpec spec = spec_of(g.topology);
    const Spectrum s = spectrum(g.w, &spec, g.weights);
    Forecast f;
    f.topology = g.topology.name;
    f.degree = most_heard(g.w);
    f.slem = s.slem;
    f.gap = s.gap;
    f.rounds_to_thousandth = std::ceil(rounds_to(s.slem < 1e-12 ? 1 : s.gap, 1e-3));
    f.bytes_per_round = bytes_per_neighbor_ * static_cast<double>(most_receivers(g.w));
    if (const std::optional<Modes> modes = cheap_modes(g)) {
      add_modes(f, *modes, problem());
      f.rounds_to_target = rounds_to_target(f, *modes);
    }
    return f;
  }

  /// 1.1 times where the fleet settles, unless it begins below.
  std::optional<double> usual_target(const Forecast& own, const Graph& g) const {
    if (problem() == nullptr || !own.excess_local) return std::nullopt;
    const std::optional<Stationary> start = problem_->after(*cheap_modes(g), 0);
    const double target = 1.1 * *own.excess_local;
    if (!start || start->excess_local.value <= target) return std::nullopt;
    return target;
  }

 private:
  std::optional<double> rounds_to_target(const Forecast& f, const Modes& modes) const {
    if (!target_ || !problem_ || !f.excess_local || !problem_->after(modes, 0)) return std::nullopt;
    const auto rounds = problem_->rounds_to(modes, *target_, most_rounds);
    return rounds ? static_cast<double>(*rounds) : infinite;
  }

  std::optional<QuadraticProblem> problem_;
  double bytes_per_neighbor_;
  std::optional<double> target_;
};

/// Weights that any graph can have.
std::string weights_for_all(const std::string& weights) {
  return weights == "max-degree" || weights == "lazy" || weights == "best-constant" ? weights
                                                                                    : "metropolis";
}

bool better(const Forecast& a, const Forecast& b) {
  const double loss_a = a.excess_local.value_or(infinite);
  const double loss_b = b.excess_local.value_or(infinite);
  return loss_a != loss_b ? loss_a < loss_b : a.gap > b.gap;
}

std::vector<Forecast> alternatives(const Forecaster& forecaster,
                                   const Assembly& fleet,
                                   std::size_t max_degree) {
  const PeerId n = fleet.fleet.size();
  if (n < 2 || n > search_limit || max_degree < 1) return {};
  GraphSearch search;
  search.peers = n;
  search.max_degree = static_cast<PeerId>(max_degree);
  search.weights = weights_for_all(fleet.fleet.weights);
  std::vector<Forecast> found;
  for (const GraphCandidate& c : best_graphs(search)) {
    if (found.size() == n_looked_at) break;
    Topology t = build(c.spec.topology, n);
    if (t.name == fleet.topology.name) continue;
    MixingMatrix w = mixing_matrix(search.weights, t);
    found.push_back(forecaster.of({std::move(t), std::move(w), search.weights}));
  }
  std::ranges::stable_sort(found, better);
  if (found.size() > n_alternatives) found.resize(n_alternatives);
  return found;
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

std::string advice(const FleetForecast& f) {
  if (f.others.empty()) return "";
  const Forecast& best = f.others.front();
  const Forecast& own = f.own;
  const bool losses = best.excess_local.has_value() && own.excess_local.has_value();
  if (losses && *best.excess_local < 0.98 * *own.excess_local) {
    return fmt::format("{}: local models settle at an excess loss of {:.4g} instead of {:.4g}, {}",
                       best.topology,
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
    return fmt::format("{}: local models settle at {:.4g}, hardly above the {:.4g} of {}, {}",
                       other->topology,
                       *other->excess_local,
                       *own.excess_local,
                       own.topology,
                       traffic(own, *other));
  }
  return fmt::format(
      "keep {}: no other graph of degree {} or less is clearly better", own.topology, f.max_degree);
}

std::string warning(const Forecaster& forecaster, const Forecast& own) {
  const QuadraticProblem* problem = forecaster.problem();
  if (problem == nullptr || !own.stability_limit || problem->rate() < *own.stability_limit)
    return "";
  const QuadraticFleet& f = problem->parts.front().fleet;
  const bool lian = f.order == "lian" && f.momentum == 0 && f.local_steps == 1;
  std::string text = fmt::format(
      "rate {:g} is beyond the stability limit {:.6g}", problem->rate(), *own.stability_limit);
  if (lian) text += fmt::format(" = (1 + lambda_n) / L, L = {:g}", problem->curvature());
  return text + ": the fleet diverges; lower train.optimizer.lr" + (lian ? ", or order atc" : "");
}

}  // namespace

void advise(FleetForecast& forecast) {
  std::ranges::stable_sort(forecast.others, better);
  forecast.advice = advice(forecast);
}

std::optional<FleetForecast> forecast(const Assembly& fleet,
                                      double bytes_per_round,
                                      const ForecastOptions& options) {
  if (fleet.algorithm->links != Links::topology) return std::nullopt;
  const auto receivers = static_cast<double>(std::max<std::size_t>(1, most_receivers(*fleet.w)));
  Forecaster forecaster(fleet, bytes_per_round / receivers);
  const Graph own{fleet.topology, *fleet.w, fleet.fleet.weights};
  FleetForecast result;
  forecaster.set_target(options.target);
  result.own = forecaster.of(own);
  if (!options.target) {
    forecaster.set_target(forecaster.usual_target(result.own, own));
    result.own = forecaster.of(own);
  }
  result.target = forecaster.target();
  result.max_degree =
      options.max_degree > 0 ? options.max_degree : std::min(result.own.degree, usual_degree);
  result.others = alternatives(forecaster, fleet, result.max_degree);
  result.advice = advice(result);
  result.warning = warning(forecaster, result.own);
  return result;
}

}  // namespace gv
