#include "graph/predict/mean_lag.h"

#include <algorithm>
#include <cmath>

namespace gv {
namespace {

/// The integral of e^{line} over a stretch from `a` to `b` of that length.
double exponential_area(double a, double b, double length) {
  const double ratio = std::log(b / a);
  return std::abs(ratio) < 1e-6 ? length * (a + b) / 2 : length * (b - a) / ratio;
}

double slope_at(std::span<const DescentSlope> slopes, double time) {
  const auto next = std::ranges::find_if(slopes, [&](const auto& s) { return s.time >= time; });
  if (next == slopes.end()) return slopes.back().gradient_square;
  if (next == slopes.begin()) return next->gradient_square;
  const auto last = next - 1;
  const double weight = (time - last->time) / (next->time - last->time);
  return last->gradient_square * std::pow(next->gradient_square / last->gradient_square, weight);
}

/// Returns the decrease of the loss from `begin` to `end`.
double descended(std::span<const DescentSlope> slopes, double begin, double end) {
  double sum = 0;
  double at = begin;
  const auto until = [&](double time) {
    sum += exponential_area(slope_at(slopes, at), slope_at(slopes, time), time - at);
    at = time;
  };
  for (const DescentSlope& s : slopes)
    if (s.time > at && s.time < end) until(s.time);
  until(end);
  return sum;
}

}  // namespace

Between between_points(std::span<const double> times, double time) {
  Between b;
  while (b.point + 1 < times.size() && times[b.point + 1] < time * (1 - 1e-9)) ++b.point;
  if (b.point + 1 == times.size()) return b;
  const double next = times[b.point + 1];
  if (time >= next * (1 - 1e-9)) return {b.point + 1, 0};
  b.weight = b.point == 0 ? time / next
                          : std::log(time / times[b.point]) / std::log(next / times[b.point]);
  return b;
}

double loss_behind(std::span<const DescentSlope> slopes, double time, double lag) {
  if (slopes.empty() || lag == 0) return 0;
  if (lag > 0) return descended(slopes, std::max(0.0, time - lag), time);
  return -descended(slopes, time, time - lag);
}

}  // namespace gv
