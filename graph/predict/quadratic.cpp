#include "graph/predict/quadratic.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <stdexcept>

#include "graph/predict/mode_recursion.h"
#include "graph/predict/scalar_round.h"

namespace gv {
namespace {

void check(const QuadraticFleet& f) {
  const auto refuse = [](const std::string& what) {
    throw std::invalid_argument("predict: " + what);
  };
  if (std::ranges::find(quadratic_orders(), f.order) == quadratic_orders().end()) {
    std::string known;
    for (const std::string& order : quadratic_orders())
      known += (known.empty() ? "" : ", ") + order;
    refuse("unknown order `" + f.order + "` (known: " + known + ")");
  }
  const auto bad = [](double h) { return !(h > 0 && std::isfinite(h)); };
  if (f.hessian.empty() || std::ranges::any_of(f.hessian, bad))
    refuse("every entry of the hessian must be positive");
  if (!(f.rate > 0)) refuse("the rate must be positive, not " + std::to_string(f.rate));
  if (!(f.momentum >= 0 && f.momentum < 1))
    refuse("the momentum must lie in [0, 1), not " + std::to_string(f.momentum));
  if (!(f.noise >= 0 && f.spread >= 0)) refuse("variances must not be negative");
  if (f.local_steps == 0) refuse("a round has at least one local step");
  if (!(f.consensus_step > 0 && f.consensus_step <= 1))
    refuse("the consensus step must lie in (0, 1], not " + std::to_string(f.consensus_step));
  const QuadraticOrder& order = order_of(f);
  const bool plain = f.momentum == 0 && f.local_steps == 1;
  if (order.brings_momentum && (f.local_steps > 1 || f.staleness > 0 || f.nesterov))
    refuse(f.order + " goes without local steps, staleness and Nesterov's momentum");
  if (order.corrects_local_steps && !(f.momentum == 0 && f.staleness == 0))
    refuse(f.order + " goes without momentum and staleness");
  const bool bare = order.corrects_bias && !order.corrects_local_steps && !order.brings_momentum;
  if (bare && !(plain && f.staleness == 0))
    refuse(f.order + " goes without momentum, local steps and staleness");
  if (f.staleness > 0 && !(plain && f.order == "lian"))
    refuse("staleness is for the order lian, without momentum and local steps");
  if (f.staleness >= ModeRound::most)
    refuse("staleness of at most " + std::to_string(ModeRound::most - 1) + " rounds");
}

std::vector<ModeRound> rounds_of(const QuadraticFleet& f, const Mode& mode, double h) {
  std::vector<ModeRound> rounds;
  for (const auto& lambda : mode.values) rounds.push_back(round_of(f, lambda, h, false));
  return rounds;
}

/// A normal W whose eigenvalues are real is symmetric.
bool directed(const Modes& modes) {
  const auto complex = [](const std::complex<double>& value) {
    return std::abs(value.imag()) > 1e-9;
  };
  return std::ranges::any_of(modes.samples, [&](const std::vector<Mode>& sample) {
    return std::ranges::any_of(
        sample, [&](const Mode& mode) { return std::ranges::any_of(mode.values, complex); });
  });
}

std::optional<ModePower> settled_power(const QuadraticFleet& f, const Mode& mode, double h) {
  return mode.variance > 0 ? scalar_power_settled(f, mode, h)
                           : stationary_power(rounds_of(f, mode, h));
}

double unless_unstable(const std::optional<ModePower>& power, const QuadraticFleet& f) {
  if (!power) return std::numeric_limits<double>::infinity();
  return f.noise * power->noise + f.spread * power->spread;
}

/// Errors add up: every axis is estimated from the same random vectors.
void add(Estimate& sum, const Estimate& term, double factor) {
  sum.value += term.value * factor;
  sum.error += term.error * factor;
}

/// E |z|^2 of the mean's mode: sqrt(n) (mean x - x*). The centres have no part in it.
double mean_power(const QuadraticFleet& f, double h) {
  const auto power = stationary_power({round_of(f, 1, h, true)});
  return power ? f.noise * power->noise : std::numeric_limits<double>::infinity();
}

/// What the noise and the centres do along one axis of the Hessian: to the mean, and to the rest.
struct AxisPower {
  double mean = 0;
  Estimate others;
};
AxisPower axis_power(const Modes& modes, const QuadraticFleet& fleet, double h) {
  return {mean_power(fleet, h), modes.sum([&](const Mode& mode) {
            return unless_unstable(settled_power(fleet, mode, h), fleet);
          })};
}

}  // namespace

const std::vector<std::string>& quadratic_orders() {
  static const std::vector<std::string> orders = [] {
    std::vector<std::string> names;
    for (const QuadraticOrder& row : order_rows()) names.emplace_back(row.name);
    return names;
  }();
  return orders;
}

bool corrects_bias(const QuadraticFleet& f) {
  return order_of(f).corrects_bias;
}

std::string why_no_theory(const Modes& modes, const QuadraticFleet& f) {
  // A random W's eigenvectors change with the round; what an algorithm remembers besides the model
  // would need more of W's moments than its square.
  if (modes.method == "expectation" && !has_scalar_rounds(f))
    return "random schedules go with lian, atc and cta, without momentum, local steps and "
           "staleness";
  const QuadraticOrder& order = order_of(f);
  if (!order.corrects_bias && !order.needs_one_w) return "";
  if (directed(modes))
    return f.order +
           " moves what both ends of an edge have sent each other: it needs an "
           "undirected graph, such as `ring`";
  if (order.needs_one_w && modes.period() > 1)
    return f.order + " is for one W, and a schedule has another one in every round";
  return "";
}

void require_theory(const Modes& modes, const QuadraticFleet& fleet) {
  check(fleet);
  if (const std::string why = why_no_theory(modes, fleet); !why.empty())
    throw std::invalid_argument("predict: " + why);
}

bool is_stable(const Modes& modes, const QuadraticFleet& f) {
  const double h = f.hessian[0];
  if (!std::isfinite(mean_power(f, h))) return false;
  const auto stable = [&](const Mode& mode) { return settled_power(f, mode, h).has_value(); };
  return std::ranges::all_of(modes.samples, [&](const std::vector<Mode>& sample) {
    return std::ranges::all_of(sample, stable);
  });
}

std::optional<Stationary> predict(const Modes& modes, const QuadraticFleet& fleet) {
  require_theory(modes, fleet);
  Stationary s;
  const double n = modes.peers;
  std::map<double, AxisPower> known;  // of millions of coordinates most are alike
  for (const double h : fleet.hessian) {
    const auto [at, is_new] = known.try_emplace(h);
    if (is_new) at->second = axis_power(modes, fleet, h);
    const auto& [mean, others] = at->second;
    if (!std::isfinite(mean) || !std::isfinite(others.value)) return std::nullopt;
    add(s.consensus, others, 1 / n);
    add(s.excess_mean, {mean, 0}, h / (2 * n));
    add(s.excess_local, {others.value + mean, others.error}, h / (2 * n));
  }
  return s;
}

}  // namespace gv
