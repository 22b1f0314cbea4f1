#pragma once

#include "peer/study/sweep/sweep_folder.h"
#include "peer/study/sweep/trial_plan.h"

namespace gv::cli {

/// Compares the runs of a finished sweep, apart for each value of all axes but the first, rewrites
/// what stands between the marks of the README.md beside the sweep file, draws the picture beside
/// it, and holds the runs to the file's `expect`. A claim whose names mean several contenders where
/// the axes are apart, or nobody, is one about all of them together. Returns the exit code:
/// check_failed when a claim did not pass. Throws std::runtime_error where there is no such README
/// or it has no marks.
///
/// A file sweep.yaml answers between these lines, and draws answer.svg:
///
///   <!-- answer -->
///   <!-- end of answer -->
///
/// Another one of the same folder, such as latency.yaml, between `<!-- answer: latency -->` and
/// `<!-- end of answer: latency -->`, and draws latency.svg.
int write_answer(const SweepPlan& plan, const SweepFolder& folder);

}  // namespace gv::cli
