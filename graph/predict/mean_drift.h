#pragma once

#include <span>
#include <vector>

#include "graph/predict/local.h"

namespace gv {

/// Gradient descent at one training time, and a push against it: x' = -grad f - push.
struct DriftPoint {
  double time = 0;                   ///< rate x rounds / (1 - momentum)
  std::vector<CurvatureShare> axes;  ///< curvature, and the gradient's component
  std::vector<double> push;          ///< along each axis
};

/// f(x) with the push less f(x) without, at `time`, to second order in the push. In first order
/// -integral of g_s e^{-2 H (time - s)} push_s ds: the gradient follows g' = -H g and the lag
/// delta' = -H delta - push, so (g delta)' = -2 g H delta - g push. The second is delta H delta / 2
/// for the push of `time`. Where H changes on the way, a point's kernel is scaled so that it takes
/// the point's own |g|^2 to that of `time`, as it does where H stays. Between points, linear in the
/// logarithm of time; before the second, in time.
double drift_excess(std::span<const DriftPoint> points, double time);

/// Where `time` lies among times that grow: the point before it, and its weight for the next one.
struct Between {
  std::size_t point = 0;
  double weight = 0;
};
Between between_points(std::span<const double> times, double time);

}  // namespace gv
