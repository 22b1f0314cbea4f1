#include "graph/predict_regression.h"

#include <cmath>
#include <limits>
#include <stdexcept>

#include "graph/scalar_round.h"

namespace gv {
namespace {

/// c^2 / (1 - |a|^2) of one mode, per gamma^2 N.
double mode_power(const RegressionFleet& f, const Mode& mode, double h) {
  const QuadraticFleet alike{.rate = f.rate, .order = f.order};
  const ScalarRound round = scalar_round(alike, mode, 0, h);
  if (!(round.a2 < 1)) return std::numeric_limits<double>::infinity();
  return round.c2 / (f.rate * f.rate) / (1 - round.a2);
}

struct Axis {
  double h;
  double mean;      ///< power of the mean's mode
  Estimate others;  ///< summed over the other modes
  double local(PeerId n) const { return (mean + others.value) / n; }
};

}  // namespace

std::optional<Stationary> predict_regression(const Modes& modes, const RegressionFleet& f) {
  if (f.order != "lian" && f.order != "atc" && f.order != "cta")
    throw std::invalid_argument("predict_regression: order lian, atc or cta, not `" + f.order +
                                "`");
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

}  // namespace gv
