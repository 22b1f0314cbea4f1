#pragma once

#include <cstddef>
#include <vector>

#include "peer/predict/calibrate/krylov.h"
#include "peer/predict/calibrate/peer_gradients.h"

namespace gv {

/// What peers that are apart do to the mean of their gradients, beyond what they would do if all
/// had one quadratic: with m_i = x_i - x, to second order in m,
///   (1/n) sum_i grad f_i(x_i) - grad f(x) - H mean(m) = (1/n) sum_i (H_i - H) m_i + 1/2 D3f : C,
/// C = (1/n) sum_i m_i m_i^T. The first term is there because a share's Hessian and its gradient
/// vary together; the second is the slope of tr(H C) / 2 (C of SGD near an optimum: Mandt, Hoffman
/// & Blei, JMLR 2017).
struct Drift {
  /// Where a push of the mean model is felt: the Hessian's leading axes and Ritz axes of the mean
  /// gradient beyond them.
  struct Axis {
    double curvature = 0;
    double slope = 0;  ///< u . grad f
  };
  /// Displacements along one leading axis; the last of all: along all others. Both pushes, one
  /// number for each axis.
  struct Source {
    std::vector<double> of_deviation;  ///< (1/n) sum_i (H_i - H) of d_i's part here
    std::vector<double> of_variance;   ///< 1/2 D3f : C, for tr C = 1 here
  };
  /// What lasting pulls d_i do in all orders: (1/n) sum_i grad f_i(x + m_i) - grad f(x), where
  /// m' = -d - H m - m / memory since `age`, so m = -(1 - e^{-r age}) / r d with r = H + 1 /
  /// memory.
  struct Lasting {
    double memory = 0;         ///< training time after which averaging forgets a displacement
    std::vector<double> push;  ///< along each axis
  };
  std::vector<Axis> axes;
  std::vector<Source> sources;
  std::vector<Lasting> lasting;  ///< by growing memory
};

/// `deviations`: d_i = grad f_i - grad f. `others`: vectors beyond the leading axes that stand for
/// the displacements there. `age`: training time that the deviations have pulled, perhaps infinite.
/// 2 (leading pairs + others + steps + 6) n gradients.
Drift find_drift(const DisplacedGradients& gradients,
                 const LeadingPairs& leading,
                 const Doubles& mean_gradient,
                 std::vector<Doubles> deviations,
                 const std::vector<Doubles>& others,
                 std::size_t steps,
                 double age);

}  // namespace gv
