#pragma once

#include <cstddef>
#include <span>

namespace gv {

/// The place of `time` among times that grow: the point before it, and its weight for the next one.
/// In the logarithm of time, but in time before the second point.
struct Between {
  std::size_t point = 0;
  double weight = 0;
};
Between between_points(std::span<const double> times, double time);

/// Gradient descent x' = -grad f(x), of which L' = -|grad f|^2 is known at times that grow.
struct DescentSlope {
  double time = 0;             ///< training time
  double gradient_square = 0;  ///< |grad f|^2
};

/// L(time - lag) - L(time): how much more loss is left where descent is behind by `lag` of training
/// time (ahead: a negative one). Between the known slopes their logarithm is linear in time, beyond
/// them it stays. Not further back than time 0.
double loss_behind(std::span<const DescentSlope> slopes, double time, double lag);

}  // namespace gv
