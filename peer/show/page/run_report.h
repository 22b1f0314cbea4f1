#pragma once

#include <vector>

#include "peer/show/page/report_page.h"
#include "peer/study/compare/comparison.h"

namespace gv {

/// The report of one run or of many. `tuned` has the trials by which their rates were found. Reads
/// more from the runs' folders if a figure needs it (waits between peers, the moments of eight
/// rounds). Throws UnusableRun for damaged files, std::invalid_argument if compare_runs rejects the
/// runs.
RunReport make_report(const std::vector<StoredRun>& runs,
                      const CompareOptions& options,
                      const std::vector<StoredRun>& tuned = {});

}  // namespace gv
