#pragma once

#include <vector>

#include "graph/mixing/mixing.h"
#include "graph/predict/quadratic.h"

namespace gv {

/// predict, for centres that are known instead of drawn: centers[i][k] = b_ik, n rows of as many
/// numbers as fleet.hessian has (fleet.spread is not looked at). The bias that they cause is where
/// the algorithm comes to rest without noise; the noise's part is predict's, since both add up. Who
/// corrects it has none (corrects_bias) and comes to rest at the minimum (Tang et al. 2018,
/// arXiv:1803.07068). Throws std::invalid_argument when the shape does not fit.
std::optional<Stationary> predict_centers(const MixingMatrix& w,
                                          const Modes& modes,
                                          const QuadraticFleet& fleet,
                                          const std::vector<std::vector<double>>& centers);

}  // namespace gv
