#pragma once

#include <vector>

#include "graph/predict/quadratic.h"
#include "graph/spectrum/modes.h"

namespace gv {

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
