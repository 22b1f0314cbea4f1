#pragma once

#include "peer/sweep/sweep_folder.h"
#include "peer/sweep/trial_plan.h"

namespace gv::cli {

/// Compares the runs of a finished sweep, apart for each value of all axes but the first, rewrites
/// what stands between the marks of the README.md beside the sweep file, and holds the runs to the
/// file's `expect`. Returns the exit code: check_failed when a claim did not pass. Throws
/// std::runtime_error where there is no such README or it has no marks.
///
///   <!-- answer -->
///   <!-- end of answer -->
int write_answer(const SweepPlan& plan, const SweepFolder& folder);

}  // namespace gv::cli
