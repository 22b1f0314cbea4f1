#pragma once

#include <complex>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include <Eigen/Core>

#include "graph/predict/quadratic.h"

namespace gv {

/// A round of one graph mode and one axis of the Hessian: z <- m z + c d + noise of covariance s^2
/// q. z[0] is the model's error in this mode, d the centres' component; the rest of z is the
/// algorithm's memory (momentum, the last model, tracked gradients, models under way).
struct ModeRound {
  static constexpr int most = 8;
  using Matrix = Eigen::Matrix<std::complex<double>, Eigen::Dynamic, Eigen::Dynamic, 0, most, most>;
  using Vector = Eigen::Matrix<std::complex<double>, Eigen::Dynamic, 1, 0, most, 1>;
  Matrix m;
  Vector c;
  Matrix q;

  /// Returns the round that is this one and then `next`.
  ModeRound then(const ModeRound& next) const;
};

/// Stationary E |z[0]|^2, the mean over a period of rounds: of the noise, per s^2, and of the
/// centres, per |d|^2.
struct ModePower {
  double noise = 0;
  double spread = 0;
};
/// Returns nothing if the recursion grows.
std::optional<ModePower> stationary_power(const std::vector<ModeRound>& period);

/// A method whose recursion on a quadratic is known; QuadraticFleet::order names it.
struct QuadraticOrder {
  std::string_view name;
  /// One round in the mode of eigenvalue lambda, on the axis of curvature h.
  ModeRound (*round)(const QuadraticFleet& fleet, std::complex<double> lambda, double h) = nullptr;
  /// One round in the all-ones mode of a method that corrects the bias. Null means plain SGD.
  ModeRound (*mean)(const QuadraticFleet& fleet, double h) = nullptr;
  bool corrects_bias = false;         ///< peers of unlike centres come to rest at the minimum
  bool needs_one_w = false;           ///< its remembered flows must be answered under the same W
  bool brings_momentum = false;       ///< has its own, and runs without the optimizer's
  bool corrects_local_steps = false;  ///< its correction is spread over the local steps
};
std::span<const QuadraticOrder> order_rows();
/// Throws std::invalid_argument if there is none.
const QuadraticOrder& order_of(const QuadraticFleet& fleet);

/// One round of the fleet's algorithm in the mode of eigenvalue lambda, on the axis of curvature h.
/// `mean`: lambda is 1, the mode in which all are alike.
ModeRound round_of(const QuadraticFleet& fleet, std::complex<double> lambda, double h, bool mean);

// Displacement of one mode of the recursion after some rounds from rest, driven by the noise of
// minibatches drawn without replacement and by a constant pull.

/// Returns whether the mode grows without being driven.
bool grows(const ModeRound& round);

/// The rounds of a mode, in stretches of equal ones.
struct ModeWay {
  struct Stretch {
    ModeRound round;
    std::uint64_t rounds = 0;
  };
  std::vector<Stretch> stretches;  ///< whole epochs, if the noise has epochs
  ModeRound now;                   ///< a round of the present epoch
};

/// Returns E |z[0]|^2 per unit of the noise's variance; if the noise has epochs, the mean over the
/// rounds of the epoch that follows. epoch: minibatches in one; 0: all are fresh. Infinite if the
/// mode grows.
double noise_power(const ModeWay& way, double epoch);

/// Returns z[0] per unit of G, against it: for gradients G the peers' minima lie at -G / h.
std::complex<double> pull_response(const ModeWay& way, double h);

/// Returns the number of minibatches of an epoch, a whole number.
std::uint64_t epoch_rounds(double epoch);

}  // namespace gv
