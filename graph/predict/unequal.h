#pragma once

#include <vector>

#include "graph/mixing/mixing.h"
#include "graph/predict/quadratic.h"

namespace gv {

/// Quadratics whose Hessians differ between peers, f_i(x) = 1/2 (x - b_i)^T diag(h_i) (x - b_i):
/// here W moves the mean model too. Coordinate by coordinate the peers' errors follow z <- M z + c
/// + N xi with M = W - gamma diag(h) (lian), W (I - gamma diag(h)) (atc) or (I - gamma diag(h)) W
/// (cta); the mean solves a linear system, the covariance P = M P M^T + s^2 N N^T by doubling
/// (Smith, "Matrix equation XA + BX = C", SIAM J. Appl. Math. 1968). Dense: n^3 per doubling.
struct UnequalQuadratic {
  std::vector<std::vector<double>> hessian;  ///< n rows h_i > 0
  std::vector<std::vector<double>> centers;  ///< n rows b_i
  double noise = 1;                          ///< s^2, per coordinate
  double rate = 0.1;
  std::string order = "lian";  ///< lian | atc | cta
};

/// Losses relative to the minimum of the mean of the f_i; `bias` is excess_mean's part that is left
/// without noise. Empty when it diverges. Throws std::invalid_argument when shapes do not fit.
struct UnequalStationary {
  double consensus = 0, excess_mean = 0, excess_local = 0, bias = 0;
};
std::optional<UnequalStationary> predict_unequal(const MixingMatrix& w,
                                                 const UnequalQuadratic& problem);

}  // namespace gv
