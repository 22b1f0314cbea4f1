#include "graph/predict/regression.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "graph/predict/scalar_round.h"

namespace gv {
namespace {

void check(const RegressionFleet& f) {
  if (f.order != "lian" && f.order != "atc" && f.order != "cta")
    throw std::invalid_argument("predict_regression: only order lian, atc or cta, not `" + f.order +
                                "`");
}

QuadraticFleet quadratic_of(const RegressionFleet& f) {
  return {.rate = f.rate, .order = f.order};
}

/// c^2 / (1 - |a|^2) of one mode, per gamma^2 N.
double mode_power(const RegressionFleet& f, const Mode& mode, double h) {
  const auto power = scalar_power_settled(quadratic_of(f), mode, h);
  return power ? power->noise / (f.rate * f.rate) : std::numeric_limits<double>::infinity();
}

struct Axis {
  double h;
  double mean;      ///< power of the mean's mode
  Estimate others;  ///< summed over the other modes
  double local(PeerId n) const { return (mean + others.value) / n; }
};

/// Second moments of all modes on the axes of one curvature, which differ only in their start:
/// summed over these axes.
struct Group {
  double h = 1, axes = 0;
  double mean = 0;             ///< second moment of the mean's mode
  std::vector<double> others;  ///< one per mode

  double local(const Modes& modes) const {
    double sum = mean;
    for (std::size_t j = 0; j < others.size(); ++j) sum += modes.samples[0][j].count * others[j];
    return sum / modes.peers;
  }
};

std::vector<Group> groups_of(const Modes& modes,
                             const RegressionFleet& f,
                             const std::vector<double>& optimum) {
  std::vector<Group> groups;
  for (std::size_t k = 0; k < f.covariance.size(); ++k) {
    auto at = std::ranges::find(groups, f.covariance[k], &Group::h);
    if (at == groups.end()) {
      groups.push_back({.h = f.covariance[k], .others = {}});
      groups.back().others.resize(modes.samples[0].size());
      at = groups.end() - 1;
    }
    at->axes += 1;
    at->mean += modes.peers * optimum[k] * optimum[k];
  }
  return groups;
}

/// One round, `level` = sum_l h_l E e_l^2 + s_e^2 before it.
void advance(Group& g, const Modes& modes, const RegressionFleet& f, double level, std::size_t t) {
  const double variance = (g.h * g.h * g.local(modes) + g.axes * g.h * level) / f.batch;
  const QuadraticFleet alike = quadratic_of(f);
  const auto next = [&](double& power, const Mode& mode, std::size_t at) {
    const ScalarRound round = scalar_round(alike, mode, at, g.h);
    power = round.a2 * power + round.c2 * variance;
  };
  next(g.mean, Mode{{1}}, 0);
  for (std::size_t j = 0; j < g.others.size(); ++j) next(g.others[j], modes.samples[0][j], t);
}

}  // namespace

std::optional<Stationary> predict_regression(const Modes& modes, const RegressionFleet& f) {
  check(f);
  const double n = modes.peers;
  const double square = f.rate * f.rate;
  std::vector<Axis> axes;
  // The local second moment of axis k is g_k (S + s_e^2), S = sum_k h_k times it: S = G (S +
  // s_e^2).
  std::vector<double> gains;
  double total_gain = 0;
  for (const double h : f.covariance) {
    const Estimate others = modes.sum([&](const Mode& mode) { return mode_power(f, mode, h); });
    axes.push_back({h, mode_power(f, Mode{{1}}, h), others});
    const double power = axes.back().local(modes.peers);
    const double rest = f.batch - square * power * h * h;
    if (!std::isfinite(power) || rest <= 0) return std::nullopt;
    gains.push_back(square * power * h / rest);
    total_gain += h * gains.back();
  }
  if (total_gain >= 1) return std::nullopt;
  const double level = f.noise / (1 - total_gain);  // S + s_e^2
  Stationary s;
  for (std::size_t k = 0; k < axes.size(); ++k) {
    const double h = axes[k].h;
    const double variance = square / f.batch * (h * h * gains[k] * level + h * level);
    s.consensus.value += variance * axes[k].others.value / n;
    s.consensus.error += variance * axes[k].others.error / n;
    s.excess_mean.value += h * variance * axes[k].mean / (2 * n);
    s.excess_local.value += h * variance * axes[k].local(modes.peers) / 2;
    s.excess_local.error += h * variance * axes[k].others.error / (2 * n);
  }
  return s;
}

Stationary predict_regression_after(const Modes& modes,
                                    const RegressionFleet& f,
                                    const std::vector<double>& optimum,
                                    std::uint64_t rounds) {
  check(f);
  if (!modes.coarse.empty() || optimum.size() != f.covariance.size())
    throw std::invalid_argument("predict_regression: needs all modes, and one x* per feature");
  std::vector<Group> groups = groups_of(modes, f, optimum);
  for (std::uint64_t t = 0; t < rounds; ++t) {
    double level = f.noise;
    for (const Group& g : groups) level += g.h * g.local(modes);
    for (Group& g : groups) advance(g, modes, f, level, t % modes.period());
  }
  Stationary s;
  for (const Group& g : groups) {
    s.consensus.value += g.local(modes) - g.mean / modes.peers;
    s.excess_mean.value += g.h / 2 * g.mean / modes.peers;
    s.excess_local.value += g.h / 2 * g.local(modes);
  }
  return s;
}

}  // namespace gv
