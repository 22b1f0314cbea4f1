#include "graph/predict/transient.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "graph/predict/scalar_round.h"

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

}  // namespace gv
