#pragma once

#include <optional>
#include <string>
#include <vector>

#include "peer/record/runs/groups.h"
#include "peer/show/page/data_table.h"
#include "peer/show/page/lines_figure.h"
#include "peer/show/page/report_groups.h"

namespace gv {

/// The curve of a target's figure.
CurveFigure curve_of_target(const CompareTarget& target);

/// Returns what the race is about: the target's figure, else accuracy where the runs have one, else
/// the plain figure.
CurveFigure raced_figure(const GroupRow& row, const std::optional<CompareTarget>& target);
/// Returns what every run has: the loss, or of agents the return.
CurveFigure plain_figure(const GroupRow& row);

/// A figure per axis that anybody recorded: time, bytes, rounds, epochs, frames.
std::vector<Figure> race_figures(const GroupRow& row,
                                 CurveFigure what,
                                 const std::optional<CompareTarget>& target);

/// Shows how a run learned: accuracy over rounds and time with the local models as a band, and the
/// losses of the mean model and of the local ones. Of agents their returns, over frames too.
std::vector<Figure> learning_figures(const StoredRun& run,
                                     const std::optional<CompareTarget>& target);

/// Consensus distance over rounds, on a logarithmic scale; dashed, what was predicted of its end.
Figure agreement_figure(const GroupRow& row);

/// Returns where a line that ascends or falls first meets the height, also between points, or none.
std::optional<double> meets(const PlotLine& line, double height, bool from_below);

}  // namespace gv
