#pragma once

#include <optional>
#include <string>
#include <vector>

#include "peer/fleet/specs.h"
#include "peer/record/runs/stored_run.h"

namespace gv {

/// The target at which a run counts as having arrived.
using CompareTarget = TargetSpec;

/// "accuracy=0.88", "accuracy=88%", "accuracy.worst=0.88", "loss=0.3", "loss.local=0.3", of
/// agents "return=475", "return.local=475"; behind each " for 2": so many evaluations in a row.
/// Throws std::invalid_argument.
CompareTarget parse_target(const std::string& text);
/// The target that every file names (`stop.target`), or every sweep; nothing where they do not
/// agree.
std::optional<CompareTarget> target_in_files(const std::vector<StoredRun>& runs);

/// The cost of a run until it got somewhere.
struct RunCost {
  double rounds = 0, seconds = 0, bytes = 0;
  std::optional<double> samples, epochs;
  std::optional<ActivitySeconds> states;
  double resolution = 0;  ///< rounds between the two evaluations around it; 0: it was the first
};

/// Returns the cost at the first evaluation that reaches the target (the first of a row, where
/// several have to), interpolated from the one before it along the figure; of a first evaluation
/// that is there already, its own. Nothing for a run that misses it.
std::optional<RunCost> cost_of(const StoredRun& run, const CompareTarget& target);
/// Returns the cost of the whole run.
RunCost cost_of(const MetricsRow& e);

/// The figure of the target, of a return minus it; nothing where it was not measured, or is not
/// finite.
std::optional<double> figure_of(const MetricsRow& e, const CompareTarget& target);
/// The best that the run ever had.
std::optional<double> best_of(const StoredRun& run, const CompareTarget& target);

}  // namespace gv
