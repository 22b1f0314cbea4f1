#include "graph/predict/transient.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "graph/predict/mode_recursion.h"

// The matrix form of Lian et al. 2017 (arXiv:1705.09056, Algorithm 1), X <- X W - gamma G(X), and
// its two other orders, mode by mode: in the basis of W's modes and the Hessian's axes every
// component of X evolves on its own.

namespace gv {
namespace {

/// 1 + r + ... + r^(t - 1).
double geometric_sum(double r, std::uint64_t t) {
  if (std::abs(1.0 - r) < 1e-14) return static_cast<double>(t);
  return (1.0 - std::pow(r, static_cast<double>(t))) / (1.0 - r);
}

/// E |z_t|^2 of the mean's mode sqrt(n) (mean x - x*), which no centre pulls: x* has variance
/// spread / n.
double mean_power_after(
    const QuadraticFleet& f, double h, double n, double start, std::uint64_t t) {
  const double a = 1 - f.rate * h;
  const double left = std::pow(a * a, static_cast<double>(t));
  return left * (n * start * start + f.spread) +
         f.rate * f.rate * f.noise * geometric_sum(a * a, t);
}

/// Coordinate k of all peers after `rounds` rounds without noise.
std::vector<double> way(const MixingMatrix& w,
                        const QuadraticFleet& f,
                        double h,
                        const std::vector<double>& b,
                        double start,
                        std::uint64_t rounds) {
  std::vector<double> x(b.size(), start);
  std::vector<double> mixed(b.size());
  const auto step = [&](std::vector<double>& to, const std::vector<double>& at) {
    for (std::size_t i = 0; i < b.size(); ++i) to[i] -= f.rate * h * (at[i] - b[i]);
  };
  for (std::uint64_t t = 0; t < rounds; ++t) {
    if (f.order == "atc") step(x, x);
    w.apply(x.data(), mixed.data());
    if (f.order == "lian") step(mixed, x);
    if (f.order == "cta") step(mixed, mixed);
    x.swap(mixed);
  }
  return x;
}

double mean_of(const std::vector<double>& v) {
  double sum = 0;
  for (const double value : v) sum += value;
  return sum / static_cast<double>(v.size());
}

double square_around(const std::vector<double>& v, double center) {
  double sum = 0;
  for (const double value : v) sum += (value - center) * (value - center);
  return sum / static_cast<double>(v.size());
}

}  // namespace

bool has_transient(const QuadraticFleet& f) {
  return has_scalar_rounds(f);
}

Stationary predict_after(const Modes& modes,
                         const QuadraticFleet& fleet,
                         double start,
                         std::uint64_t rounds) {
  if (!has_transient(fleet))
    throw std::invalid_argument(
        "predict: the transient is not computed with momentum, local steps or staleness");
  Stationary s;
  const double n = modes.peers;
  for (const double h : fleet.hessian) {
    const double mean = mean_power_after(fleet, h, n, start, rounds);
    const Estimate others = modes.sum([&](const Mode& mode) {
      const ModePower power = scalar_power_after(fleet, mode, h, rounds);
      return fleet.noise * power.noise + fleet.spread * power.spread;
    });
    s.consensus.value += others.value / n;
    s.consensus.error += others.error / n;
    s.excess_mean.value += h * mean / (2 * n);
    s.excess_local.value += h * (others.value + mean) / (2 * n);
    s.excess_local.error += h * others.error / (2 * n);
  }
  return s;
}

Stationary predict_after(const MixingMatrix& w,
                         const Modes& modes,
                         const QuadraticFleet& fleet,
                         const std::vector<std::vector<double>>& centers,
                         double start,
                         std::uint64_t rounds) {
  const auto fits = [&](const auto& row) { return row.size() == fleet.hessian.size(); };
  if (centers.size() != w.size() || !std::ranges::all_of(centers, fits))
    throw std::invalid_argument("predict: one row per peer, one number per entry of the hessian");
  QuadraticFleet noise = fleet;
  noise.spread = 0;
  Stationary s = predict_after(modes, noise, 0, rounds);
  for (std::size_t k = 0; k < fleet.hessian.size(); ++k) {
    std::vector<double> b;
    for (const std::vector<double>& row : centers) b.push_back(row[k]);
    const double h = fleet.hessian[k];
    const std::vector<double> x = way(w, fleet, h, b, start, rounds);
    const double mean = mean_of(x);
    const double optimum = mean_of(b);
    s.consensus.value += square_around(x, mean);
    s.excess_mean.value += h / 2 * (mean - optimum) * (mean - optimum);
    s.excess_local.value += h / 2 * square_around(x, optimum);
  }
  return s;
}

std::optional<std::uint64_t> first_at_most(const std::function<double(std::uint64_t)>& value,
                                           double target,
                                           std::uint64_t most) {
  std::uint64_t above = 0;
  if (value(0) <= target) return 0;
  std::uint64_t below = 1;
  while (!(value(below) <= target)) {
    if (below >= most) return std::nullopt;
    above = below;
    below = std::min(most, below + 1 + below / 16);  // not far beyond a dip
  }
  while (below - above > 1) {
    const std::uint64_t middle = above + (below - above) / 2;
    (value(middle) <= target ? below : above) = middle;
  }
  return below;
}

ScalarRound ScalarRound::then(const ScalarRound& next) const {
  const double cross = 2 * (next.ab * b).real();
  return {.a = next.a * a,
          .b = next.a * b + next.b,
          .a2 = next.a2 * a2,
          .b2 = next.a2 * b2 + cross + next.b2,
          .c2 = next.a2 * c2 + next.c2,
          .ab = next.a2 * ab + next.ab * a};
}

ScalarRound ScalarRound::repeated(std::uint64_t times) const {
  ScalarRound all;
  for (ScalarRound power = *this; times > 0; times /= 2, power = power.then(power))
    if (times % 2 == 1) all = all.then(power);
  return all;
}

bool has_scalar_rounds(const QuadraticFleet& f) {
  const bool order = f.order == "lian" || f.order == "atc" || f.order == "cta";
  return order && f.momentum == 0 && f.local_steps == 1 && f.staleness == 0;
}

ScalarRound scalar_round(const QuadraticFleet& f, const Mode& mode, std::size_t t, double h) {
  const std::complex<double> lambda = mode.values[t];
  const double v = mode.variance;
  const double step = f.rate * h;
  const double noise = f.rate * f.rate;
  ScalarRound r{.a = lambda - step, .b = step, .c2 = noise};
  double slope = 1;  // derivative of a by lambda
  if (f.order != "lian") {
    slope = 1 - step;
    r.a = lambda * slope;
  }
  r.a2 = std::norm(r.a) + slope * slope * v;
  r.b2 = step * step;
  r.ab = r.a * step;
  if (f.order == "atc") {  // the step is averaged too: b and c have lambda in them
    r.b = lambda * step;
    r.b2 = mode.square(t) * step * step;
    r.c2 = mode.square(t) * noise;
    r.ab = mode.square(t) * slope * step;
  }
  return r;
}

ModePower scalar_power_after(const QuadraticFleet& f,
                             const Mode& mode,
                             double h,
                             std::uint64_t rounds) {
  const std::size_t period = mode.values.size();
  ScalarRound whole;
  ScalarRound rest;
  for (std::size_t t = 0; t < period; ++t) {
    const ScalarRound round = scalar_round(f, mode, t, h);
    whole = whole.then(round);
    if (t < rounds % period) rest = rest.then(round);
  }
  const ScalarRound all = whole.repeated(rounds / period).then(rest);
  return {all.c2, all.b2};
}

std::optional<ModePower> scalar_power_settled(const QuadraticFleet& f, const Mode& mode, double h) {
  const std::size_t period = mode.values.size();
  ScalarRound whole;
  for (std::size_t t = 0; t < period; ++t) whole = whole.then(scalar_round(f, mode, t, h));
  if (!(whole.a2 < 1)) return std::nullopt;
  // After a period: z = a z + b, so E z = b / (1 - a). Then round by round through the next one.
  std::complex<double> mean = whole.b / (1.0 - whole.a);
  ModePower at{whole.c2 / (1 - whole.a2),
               (whole.b2 + 2 * (whole.ab * mean).real()) / (1 - whole.a2)};
  ModePower sum;
  for (std::size_t t = 0; t < period; ++t) {
    const ScalarRound r = scalar_round(f, mode, t, h);
    at = {r.a2 * at.noise + r.c2, r.a2 * at.spread + 2 * (r.ab * mean).real() + r.b2};
    mean = r.a * mean + r.b;
    sum.noise += at.noise / static_cast<double>(period);
    sum.spread += at.spread / static_cast<double>(period);
  }
  return sum;
}

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
