#pragma once

#include <cstddef>
#include <vector>

#include "graph/predict/local.h"
#include "peer/study/predict/calibrate/krylov.h"
#include "peer/study/predict/calibrate/peer_gradients.h"

namespace gv {

/// The push of peers that are apart on the mean of their gradients, beyond what it would be if all
/// had one quadratic: with m_i = x_i - x, to second order in m,
///   (1/n) sum_i grad f_i(x_i) - grad f(x) - H mean(m) = (1/n) sum_i (H_i - H) m_i + 1/2 D3f : C,
/// C = (1/n) sum_i m_i m_i^T. The first term is there because a share's Hessian and its gradient
/// vary together; the second is the slope of tr(H C) / 2 (C of SGD near an optimum: Mandt, Hoffman
/// & Blei, JMLR 2017).
///
/// All as inner products with `adjoints`. sources: displacements along one leading axis each; the
/// last: along all others. lasting: what pulls d_i do, (1/n) sum_i grad f_i(x + m_i) - grad f(x),
/// where m' = -d - H m - m / memory since `age`, so m = -(1 - e^{-r age}) / r d with
/// r = H + 1 / memory; its odd and its even part in m.
using Drift = LocalModel::Drift;

/// `deviations`: d_i = grad f_i - grad f. `others`: vectors beyond the leading axes that stand for
/// the displacements there. `age`: training time that the deviations have pulled, perhaps infinite.
/// 2 (leading pairs + others + 9) n gradients.
Drift find_drift(const DisplacedGradients& gradients,
                 const LeadingPairs& leading,
                 const std::vector<Doubles>& adjoints,
                 std::vector<Doubles> deviations,
                 const std::vector<Doubles>& others,
                 double age);

}  // namespace gv
