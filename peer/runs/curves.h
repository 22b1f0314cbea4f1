#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "peer/runs/groups.h"

namespace gv {

/// What a curve goes along, and what it shows.
enum class CurveAxis : std::uint8_t { rounds, seconds, bytes, epochs };
enum class CurveFigure : std::uint8_t { accuracy, worst_accuracy, loss, local_loss, consensus };

/// The seeds of a group at one place: least, mean and most.
struct CurvePoint {
  double at = 0, least = 0, mean = 0, most = 0;
};

/// A group's curve: a point at every evaluation of any seed where every seed has a value,
/// interpolated between its evaluations, never beyond them; evenly along the axis where these would
/// be more than `most`. Empty where nobody recorded the figure or the axis.
std::vector<CurvePoint> curve_of(const RunGroup& group,
                                 CurveAxis axis,
                                 CurveFigure figure,
                                 std::size_t most = 2000);

/// Of one evaluation; nothing where it was not recorded, or is not finite.
std::optional<double> along(const StoredEvaluation& e, CurveAxis axis);
std::optional<double> shown(const StoredEvaluation& e, CurveFigure figure);

/// The clock by which runs are compared: without evaluations and checkpoints where it was kept.
double clock_of(const StoredEvaluation& e);

}  // namespace gv
