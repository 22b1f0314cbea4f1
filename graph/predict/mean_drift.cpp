#include "graph/predict/mean_drift.h"

#include <algorithm>
#include <cmath>

namespace gv {
namespace {

constexpr int pieces = 256;  ///< of an integral

double slope_square(const DriftPoint& p, double age) {
  double sum = 0;
  for (const CurvatureShare& axis : p.axes)
    sum += std::pow(axis.value, 2) * std::exp(-2 * std::max(0.0, axis.curvature) * age);
  return sum;
}

/// What the push of time `now - age` has left in the loss, per unit of time; the point's own view.
double first_order(const DriftPoint& p, double age) {
  double sum = 0;
  for (std::size_t k = 0; k < p.axes.size(); ++k)
    sum -= p.axes[k].value * p.push[k] * std::exp(-2 * std::max(0.0, p.axes[k].curvature) * age);
  return sum;
}

double second_order(const DriftPoint& p, double time) {
  double sum = 0;
  for (std::size_t k = 0; k < p.axes.size(); ++k) {
    const double h = p.axes[k].curvature;
    if (h * time < 1e-9) continue;
    sum += std::pow(p.push[k] * (1 - std::exp(-h * time)), 2) / (2 * h);
  }
  return sum;
}

template <class Value>
double interpolated(std::span<const DriftPoint> points, const Between& at, Value value) {
  const double a = value(points[at.point]);
  return at.weight == 0 ? a : a + at.weight * (value(points[at.point + 1]) - a);
}

/// Since the point, |grad f|^2 has become `now`: by how much less or more than its curvatures say.
double forgotten(const DriftPoint& p, double time, double now) {
  const double expected = slope_square(p, std::max(0.0, time - p.time));
  return p.time < time && expected > 0 ? now / expected : 1;
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

double drift_excess(std::span<const DriftPoint> points, double time) {
  std::vector<double> times;
  for (const DriftPoint& p : points) times.push_back(p.time);
  const Between end = between_points(times, time);
  const double now = std::exp(interpolated(points, end, [](const DriftPoint& p) {
    return std::log(std::max(slope_square(p, 0), 1e-300));
  }));
  std::vector<double> scale;
  for (const DriftPoint& p : points) scale.push_back(forgotten(p, time, now));
  double first = 0;
  double before = 0;  // the pieces are shorter towards the end, where fast axes forget quickly
  for (int k = 1; k <= pieces; ++k) {
    const double until = time * (1 - std::pow(1 - k / double{pieces}, 3));
    const double middle = (before + until) / 2;
    const auto value = [&](const DriftPoint& p) {
      return scale[static_cast<std::size_t>(&p - points.data())] * first_order(p, time - middle);
    };
    first += (until - before) * interpolated(points, between_points(times, middle), value);
    before = until;
  }
  return first +
         interpolated(points, end, [&](const DriftPoint& p) { return second_order(p, time); });
}

}  // namespace gv
