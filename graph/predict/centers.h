#pragma once

#include <vector>

#include "graph/mixing/mixing.h"
#include "graph/predict/quadratic.h"

namespace gv {

/// Returns the consensus distance and the excess losses where centres that are known bring the
/// peers to rest without noise: centers[i][k] = b_ik, n rows of as many numbers as fleet.hessian
/// has. All are 0 for an order that corrects the bias (corrects_bias), which comes to rest at the
/// minimum (Tang et al. 2018, arXiv:1803.07068). fleet.spread and fleet.noise are not looked at,
/// and the fleet must be stable. The place of rest solves a linear system in W, so that it costs no
/// more near the limit of stability. Throws std::invalid_argument when the shape does not fit.
Stationary rest_of_centers(const MixingMatrix& w,
                           const QuadraticFleet& fleet,
                           const std::vector<std::vector<double>>& centers);

/// predict, for centres that are known instead of drawn: what noise does, and rest_of_centers,
/// since both add up.
std::optional<Stationary> predict_centers(const MixingMatrix& w,
                                          const Modes& modes,
                                          const QuadraticFleet& fleet,
                                          const std::vector<std::vector<double>>& centers);

}  // namespace gv
