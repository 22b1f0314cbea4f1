#include "graph/predict/rates/mixing_rates.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace gv {
namespace {

/// v <- A_t v + C_t, repeated: the mean over the period of its fixed point, taken after each step.
/// A_t = g |lambda_t|^2; C_t = |lambda_t|^2 (their means when random) when the noise is averaged
/// too, else 1.
double settled(const Mode& mode, double g, bool averaged) {
  double factor = 1;
  double shift = 0;
  for (std::size_t t = 0; t < mode.values.size(); ++t) {
    const double a = g * mode.square(t);
    factor *= a;
    shift = a * shift + (averaged ? mode.square(t) : 1);
  }
  if (factor >= 1) return std::numeric_limits<double>::infinity();
  double v = shift / (1 - factor);
  double sum = 0;
  for (std::size_t t = 0; t < mode.values.size(); ++t) {
    v = g * mode.square(t) * v + (averaged ? mode.square(t) : 1);
    sum += v;
  }
  return sum / static_cast<double>(mode.values.size());
}

Estimate scaled(Estimate e, double factor) {
  return {e.value * factor, e.error * std::abs(factor)};
}

}  // namespace

Estimate s1_lian(const Modes& modes) {
  return scaled(modes.sum([](const Mode& m) { return settled(m, 1, false); }), 1.0 / modes.peers);
}

Estimate s1_atc(const Modes& modes) {
  return scaled(modes.sum([](const Mode& m) { return settled(m, 1, true); }), 1.0 / modes.peers);
}

Estimate effective_neighbors(const Modes& modes, double g) {
  const double alone = 1 / (1 - g);
  const Estimate sum = modes.sum([g](const Mode& m) { return settled(m, g, true); });
  const double value = modes.peers * alone / (sum.value + alone);
  return {value, value * sum.error / (sum.value + alone)};
}

Estimate disagreement_after(const Modes& modes, std::uint64_t rounds) {
  const Estimate sum = modes.sum([rounds](const Mode& mode) {
    const std::uint64_t period = mode.values.size();
    double left = 1;
    for (std::uint64_t t = 0; t < period; ++t) {
      const std::uint64_t times = rounds / period + (t < rounds % period ? 1 : 0);
      left *= std::pow(mode.square(t), static_cast<double>(times));
    }
    return left;
  });
  return scaled(sum, 1.0 / modes.peers);
}

double rounds_to(double gap, double factor) {
  if (gap <= 0) return std::numeric_limits<double>::infinity();
  if (gap >= 1) return 1;
  return std::max(1.0, std::log(factor) / std::log1p(-gap));
}

MixingBounds mixing_bounds(PeerId n, double lambda2, double gap) {
  const double relaxation = 1 / gap;
  constexpr double e = 0.25;
  return {(1 - lambda2) / 2, std::sqrt(2 * (1 - lambda2)),
          std::max(0.0, relaxation - 1) * std::log(1 / (2 * e)), relaxation * std::log(n / e)};
}

}  // namespace gv
