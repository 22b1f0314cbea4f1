#include <algorithm>
#include <bit>
#include <cmath>
#include <complex>
#include <numbers>
#include <set>

#include "graph/spectrum/spectrum.h"

// Eigenvalues of Metropolis weights where they have a formula. Circulants: the discrete Fourier
// transform of the first row; a torus: sums of ring eigenvalues; a path: Strang, "The discrete
// cosine transform", SIAM Review 1999.

namespace gv {
namespace {

constexpr double pi = std::numbers::pi;

/// The extremes together with 1 - lambda2 computed without cancellation.
struct Extremes {
  double gap2;  ///< 1 - lambda2
  double lambda_n;
};

double squared_sine(double angle) {
  return std::sin(angle) * std::sin(angle);
}

Extremes ring(PeerId n) {
  if (n == 2) return {1, 0};
  // 1/3 + 2/3 cos(2 pi m / n), m = 1 and the m nearest n / 2.
  return {4.0 / 3 * squared_sine(pi / n), 1.0 / 3 + 2.0 / 3 * std::cos(2 * pi * (n / 2) / n)};
}

Extremes path(PeerId n) {
  if (n == 2) return {1, 0};
  return {4.0 / 3 * squared_sine(pi / (2.0 * n)), 1.0 / 3 + 2.0 / 3 * std::cos(pi * (n - 1) / n)};
}

Extremes torus(PeerId rows, PeerId columns) {
  const double most = std::max(rows, columns);
  const double lowest =
      1 + 2 * std::cos(2 * pi * (rows / 2) / rows) + 2 * std::cos(2 * pi * (columns / 2) / columns);
  return {4.0 / 5 * squared_sine(pi / most), lowest / 5};
}

Extremes hypercube(PeerId n) {
  const double d = std::countr_zero(n);
  return {2 / (d + 1), 1 - 2 * d / (d + 1)};
}

/// A circulant of equal weights: 1 - lambda_m = (2 / (deg + 1)) sum over hops of sin^2(pi m hop /
/// n).
Extremes symmetric_exponential(PeerId n) {
  std::set<PeerId> hops;
  for (std::uint64_t hop = 1; hop < n; hop *= 2) {
    const auto short_hop = static_cast<PeerId>(hop);
    hops.insert({short_hop, n - short_hop});
  }
  double least = HUGE_VAL;
  double most = 0;
  for (PeerId m = 1; m <= n / 2; ++m) {
    double sum = 0;
    for (const PeerId hop : hops)
      sum += squared_sine(pi * static_cast<double>(std::uint64_t{m} * hop % n) / n);
    least = std::min(least, sum);
    most = std::max(most, sum);
  }
  const double scale = 2 / static_cast<double>(hops.size() + 1);
  return {scale * least, 1 - scale * most};
}

std::optional<Extremes> symmetric_family(const TopologySpec& spec, PeerId n) {
  if (spec.kind == "ring") return ring(n);
  if (spec.kind == "path") return path(n);
  if (spec.kind == "complete") return Extremes{1, 0};
  if (spec.kind == "star") return n == 2 ? Extremes{1, 0} : Extremes{1.0 / n, 0};
  if (spec.kind == "hypercube") return hypercube(n);
  if (spec.kind == "symmetric-exponential") return symmetric_exponential(n);
  if (spec.kind == "torus" && spec.shape.size() == 2 && spec.shape[0] >= 3 && spec.shape[1] >= 3) {
    return torus(spec.shape[0], spec.shape[1]);
  }
  return std::nullopt;
}

/// max over m >= 1 of |sum_j c_j w^{mj}| for the static exponential graph: a circulant is normal,
/// so this is the second singular value.
Spectrum exponential(PeerId n) {
  std::vector<PeerId> hops{0};
  for (PeerId hop = 1; hop < n; hop *= 2) hops.push_back(hop);
  double most = 0;
  for (PeerId m = 1; m < n; ++m) {
    std::complex<double> sum = 0;
    for (const PeerId hop : hops) {
      const auto turn = static_cast<double>(std::uint64_t{m} * hop % n);
      sum += std::polar(1.0, 2 * pi * turn / n);
    }
    most = std::max(most, std::abs(sum) / static_cast<double>(hops.size()));
  }
  Spectrum s;
  s.slem = most;
  s.gap = 1 - most;
  s.method = "closed form";
  return s;
}

}  // namespace

std::optional<Spectrum> closed_form_spectrum(const TopologySpec& spec,
                                             PeerId n,
                                             std::string_view weights) {
  const bool lazy = weights == "lazy";
  // In these families max-degree weights are Metropolis weights.
  if ((weights != "metropolis" && weights != "max-degree" && !lazy) || n < 2) return std::nullopt;
  if (spec.kind == "exponential" && !lazy) return exponential(n);
  std::optional<Extremes> e = symmetric_family(spec, n);
  if (!e) return std::nullopt;
  if (lazy) e = Extremes{e->gap2 / 2, (1 + e->lambda_n) / 2};
  Spectrum s;
  s.lambda2 = 1 - e->gap2;
  s.lambda_n = e->lambda_n;
  s.slem = std::max(std::abs(*s.lambda2), std::abs(e->lambda_n));
  s.gap = *s.lambda2 >= std::abs(e->lambda_n) ? e->gap2 : 1 - s.slem;
  s.method = "closed form";
  return s;
}

}  // namespace gv
