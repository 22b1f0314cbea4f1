#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "peer/record/runs/groups.h"

namespace gv {

/// The axis that a curve goes along, and the figure that it shows.
enum class CurveAxis : std::uint8_t { rounds, seconds, bytes, epochs, frames };
enum class CurveFigure : std::uint8_t {
  accuracy,
  worst_accuracy,
  loss,
  local_loss,
  consensus,
  mean_return,  ///< of the mean model, of an agent
  local_return,
};

/// The seeds of a group at one place: least, mean and most, and their deviation from the mean
/// (n - 1).
struct CurvePoint {
  double at = 0, least = 0, mean = 0, most = 0, deviation = 0;
};

/// A group's curve: a point at every evaluation of any seed from where every seed has a value,
/// interpolated between its evaluations; evenly along the axis where these would be more than
/// `most`. A seed that has ended keeps what it ended with until the last one has: where a target
/// ends runs, the curve gets there. Empty where nobody recorded the figure or the axis.
std::vector<CurvePoint> curve_of(const RunGroup& group,
                                 CurveAxis axis,
                                 CurveFigure figure,
                                 std::size_t most = 2000);

/// Reads one evaluation; nothing where it was not recorded, or is not finite.
std::optional<double> along(const MetricsRow& e, CurveAxis axis);
std::optional<double> shown(const MetricsRow& e, CurveFigure figure);

/// The clock by which runs are compared: without evaluations and checkpoints where it was kept.
double clock_of(const MetricsRow& e);

}  // namespace gv
