#pragma once

#include <cstddef>
#include <span>

namespace gv {

/// The position of `time` among growing times: the point before it, and the weight of the next
/// point. Linear in the logarithm of time, but in time before the second point.
struct Between {
  std::size_t point = 0;
  double weight = 0;
};
Between between_points(std::span<const double> times, double time);

/// A point of gradient descent x' = -grad f(x), where L' = -|grad f|^2; times grow.
struct DescentSlope {
  double time = 0;             ///< training time
  double gradient_square = 0;  ///< |grad f|^2
};

/// Returns L(time - lag) - L(time): the additional loss if descent lags by `lag` of training time
/// (negative lag: it is ahead). Between the known slopes their logarithm is linear in time, beyond
/// them constant. Not further back than time 0.
double loss_behind(std::span<const DescentSlope> slopes, double time, double lag);

}  // namespace gv
