#pragma once

#include <complex>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "graph/mixing/mixing.h"
#include "graph/predict/quadratic.h"
#include "graph/spectrum/modes.h"

namespace gv {

struct ModePower;

/// Returns whether predict_after knows the fleet: lian, atc or cta, SGD without momentum, one local
/// step, fresh neighbours.
bool has_transient(const QuadraticFleet& fleet);

/// Returns predict()'s quantities after `rounds` rounds from one start for all peers: every
/// coordinate at `start`, the minima drawn around 0. Every mode is a scalar recursion whose rounds
/// are composed, see ScalarRound (Lian et al. 2017, arXiv:1705.09056, Algorithm 1, and the two
/// other orders). Grows without bound if a mode is unstable. Throws std::invalid_argument unless
/// has_transient.
Stationary predict_after(const Modes& modes,
                         const QuadraticFleet& fleet,
                         double start,
                         std::uint64_t rounds);

/// Returns them for known centres (see predict_centers; fleet.spread is ignored): the path without
/// noise is followed round by round, rounds * n * degree operations per coordinate.
Stationary predict_after(const MixingMatrix& w,
                         const Modes& modes,
                         const QuadraticFleet& fleet,
                         const std::vector<std::vector<double>>& centers,
                         double start,
                         std::uint64_t rounds);

/// Returns the first round at which `value`, which falls, is at most `target`; none up to `most`.
std::optional<std::uint64_t> first_at_most(const std::function<double(std::uint64_t)>& value,
                                           double target,
                                           std::uint64_t most);

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

/// Linear regression on streams: every peer sees a ~ N(0, diag(h)), y = a . x* + eps, and takes
/// steps on minibatches of fresh samples. The gradient's noise grows with the error: by Isserlis'
/// theorem (Biometrika 1918) its covariance at error e in direction k is (h_k^2 e_k^2 + h_k sum_l
/// h_l e_l^2 + s_e^2 h_k) / B.
struct RegressionFleet {
  std::vector<double> covariance{1.0};  ///< h_k > 0 of the features
  double noise = 1;                     ///< s_e^2: variance of eps
  double batch = 1;                     ///< B
  double rate = 0.1;
  std::string order = "lian";  ///< lian | atc | cta
};

/// Exact if the graph looks alike from every peer (rings, tori, hypercubes, complete graphs,
/// circulants): the noise is then the same at every peer. With a W that changes with the round,
/// over the mean error of a period. Losses are excess losses of half the squared error. Empty when
/// the mean square grows. Throws std::invalid_argument for an unknown order.
std::optional<Stationary> predict_regression(const Modes& modes, const RegressionFleet& fleet);

/// Returns the state after `rounds` rounds from x = 0 everywhere, `optimum` being x*: the second
/// moments of all modes, round by round, each round's noise from the errors before it (rounds *
/// modes operations per distinct h_k). Throws std::invalid_argument for modes that are estimates.
Stationary predict_regression_after(const Modes& modes,
                                    const RegressionFleet& fleet,
                                    const std::vector<double>& optimum,
                                    std::uint64_t rounds);

}  // namespace gv
