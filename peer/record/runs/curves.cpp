#include "peer/record/runs/curves.h"

#include <algorithm>
#include <cmath>

namespace gv {
namespace {

struct Knot {
  double at, value;
};

/// The evaluations that have both, in ascending order of `at`.
std::vector<Knot> knots_of(const StoredRun& run, CurveAxis axis, CurveFigure figure) {
  std::vector<Knot> knots;
  for (const MetricsRow& e : run.evaluations) {
    const auto at = along(e, axis);
    const auto value = shown(e, figure);
    if (at && value && (knots.empty() || *at > knots.back().at)) knots.push_back({*at, *value});
  }
  return knots;
}

/// Interpolates between the knots beside it; behind the last one, its value stays.
double value_at(const std::vector<Knot>& knots, double at) {
  const auto right = std::ranges::lower_bound(knots, at, {}, &Knot::at);
  if (right == knots.end()) return knots.back().value;
  if (right == knots.begin() || right->at == at) return right->value;
  const Knot& left = *std::prev(right);
  const double part = (at - left.at) / (right->at - left.at);
  return left.value + part * (right->value - left.value);
}

/// Returns where runs have knots in `from` .. `to`, or even places where these are above `most`.
std::vector<double> places_of(const std::vector<std::vector<Knot>>& runs,
                              double from,
                              double to,
                              std::size_t most) {
  std::vector<double> places;
  for (const auto& knots : runs)
    for (const Knot& knot : knots)
      if (knot.at >= from && knot.at <= to) places.push_back(knot.at);
  std::ranges::sort(places);
  places.erase(std::unique(places.begin(), places.end()), places.end());
  if (places.size() <= most) return places;
  places.clear();
  for (std::size_t k = 0; k < most; ++k)
    places.push_back(from + (to - from) * static_cast<double>(k) / static_cast<double>(most - 1));
  return places;
}

}  // namespace

double clock_of(const MetricsRow& e) {
  return e.training_seconds.value_or(e.seconds);
}

std::optional<double> along(const MetricsRow& e, CurveAxis axis) {
  switch (axis) {
    case CurveAxis::rounds:
      return static_cast<double>(e.round);
    case CurveAxis::seconds:
      return clock_of(e);
    case CurveAxis::bytes:
      return e.sent_bytes;
    case CurveAxis::epochs:
      return e.epoch;
    case CurveAxis::frames:
      return e.frames;
  }
  return std::nullopt;
}

std::optional<double> shown(const MetricsRow& e, CurveFigure figure) {
  std::optional<double> value;
  switch (figure) {
    case CurveFigure::accuracy:
      value = e.accuracy;
      break;
    case CurveFigure::worst_accuracy:
      value = e.accuracy_min;
      break;
    case CurveFigure::loss:
      value = e.loss;
      break;
    case CurveFigure::local_loss:
      value = e.loss_local;
      break;
    case CurveFigure::consensus:
      value = e.consensus;
      break;
    case CurveFigure::mean_return:
      if (e.frames) value = -e.loss;
      break;
    case CurveFigure::local_return:
      if (e.frames) value = -e.loss_local;
      break;
  }
  return value && std::isfinite(*value) ? value : std::nullopt;
}

std::vector<CurvePoint> curve_of(const RunGroup& group,
                                 CurveAxis axis,
                                 CurveFigure figure,
                                 std::size_t most) {
  std::vector<std::vector<Knot>> runs;
  for (const StoredRun* run : group.runs) {
    runs.push_back(knots_of(*run, axis, figure));
    if (runs.back().empty()) return {};
  }
  if (runs.empty() || most < 2) return {};
  double from = runs.front().front().at;
  double to = runs.front().back().at;
  for (const auto& knots : runs) {
    from = std::max(from, knots.front().at);
    to = std::max(to, knots.back().at);
  }
  std::vector<CurvePoint> curve;
  for (const double at : places_of(runs, from, to, most)) {
    CurvePoint point{.at = at};
    double sum = 0, squares = 0;
    for (std::size_t r = 0; r < runs.size(); ++r) {
      const double value = value_at(runs[r], at);
      sum += value;
      squares += value * value;
      point.least = r == 0 ? value : std::min(point.least, value);
      point.most = r == 0 ? value : std::max(point.most, value);
    }
    const auto n = static_cast<double>(runs.size());
    point.mean = sum / n;
    if (n > 1) point.deviation = std::sqrt(std::max(0.0, (squares - sum * point.mean) / (n - 1)));
    curve.push_back(point);
  }
  return curve;
}

}  // namespace gv
