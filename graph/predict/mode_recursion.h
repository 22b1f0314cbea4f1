#pragma once

#include <complex>
#include <optional>
#include <vector>

#include <Eigen/Core>

#include "graph/predict/quadratic.h"

namespace gv {

/// A round of one graph mode and one axis of the Hessian: z <- m z + c d + noise of covariance
/// s^2 q. z[0] is the model's error in this mode, d the centres' component; the rest of z is what
/// the algorithm remembers (momentum, the last model, tracked gradients, models under way).
struct ModeRound {
  static constexpr int most = 8;
  using Matrix = Eigen::Matrix<std::complex<double>, Eigen::Dynamic, Eigen::Dynamic, 0, most, most>;
  using Vector = Eigen::Matrix<std::complex<double>, Eigen::Dynamic, 1, 0, most, 1>;
  Matrix m;
  Vector c;
  Matrix q;

  /// This round, then `next`.
  ModeRound then(const ModeRound& next) const;
};

/// Stationary E |z[0]|^2, the mean over a period of rounds: of the noise, per s^2, and of the
/// centres, per |d|^2.
struct ModePower {
  double noise = 0;
  double spread = 0;
};
/// Empty when the recursion grows.
std::optional<ModePower> stationary_power(const std::vector<ModeRound>& period);

/// One round of the fleet's algorithm in the mode of eigenvalue lambda, on the axis of curvature h.
/// `mean`: the all-ones mode, in which who corrects the bias is plain SGD.
ModeRound round_of(const QuadraticFleet& fleet, std::complex<double> lambda, double h, bool mean);

}  // namespace gv
