#pragma once

#include <complex>
#include <cstdint>
#include <optional>

#include "graph/predict/mode_recursion.h"

namespace gv {

/// A round of one mode and axis of a fleet whose state is the model alone (lian, atc or cta;
/// momentum, several local steps and staleness need more state): z <- a z + b d + c xi. W may be
/// random, and a, b and c with it. Second moments need only means and mean squares, and these
/// compose. Lian et al. 2017, arXiv:1705.09056, Algorithm 1, and its two other orders.
struct ScalarRound {
  std::complex<double> a = 1, b = 0;  ///< means
  double a2 = 1, b2 = 0, c2 = 0;      ///< E |a|^2, E |b|^2, E |c|^2
  std::complex<double> ab = 0;        ///< E a conj(b)

  /// Returns the round that is this one and then `next`, which is independent.
  ScalarRound then(const ScalarRound& next) const;
  /// Returns the round that is this one, `times` times.
  ScalarRound repeated(std::uint64_t times) const;
};

bool has_scalar_rounds(const QuadraticFleet& fleet);
ScalarRound scalar_round(const QuadraticFleet& fleet, const Mode& mode, std::size_t t, double h);

/// Returns E |z|^2 after `rounds` rounds from z = 0: the noise's part per s^2, the centres' per
/// |d|^2.
ModePower scalar_power_after(const QuadraticFleet& fleet,
                             const Mode& mode,
                             double h,
                             std::uint64_t rounds);
/// Returns its stationary value, the mean over a period; none if the mean square grows.
std::optional<ModePower> scalar_power_settled(const QuadraticFleet& fleet,
                                              const Mode& mode,
                                              double h);

}  // namespace gv
