#pragma once

#include <optional>
#include <vector>

#include "peer/record/runs/stored_run.h"
#include "peer/show/page/data_table.h"
#include "peer/show/page/report_curves.h"
#include "peer/show/page/report_groups.h"
#include "peer/show/page/tuning_figure.h"

namespace gv {

/// Returns what a sweep tried to find good values: for each method and each numeric key that
/// differs among its tuning trials, the value against the median over the seeds of the rounds to
/// the target. Where there is no target it is what the accuracy at the end lacks to 1, or the loss.
/// Empty without such trials.
std::vector<Tuning> tunings_of(const std::vector<StoredRun>& tuned,
                               const std::optional<CompareTarget>& target);

/// Gives each the colour that the group of its labels has in the other figures.
void share_colours(std::vector<Tuning>& tunings, const std::vector<GroupRow>& rows);

std::vector<Figure> tuning_figures(const std::vector<Tuning>& tunings);

}  // namespace gv
