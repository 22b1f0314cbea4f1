#pragma once

#include <vector>

#include "peer/show/page/report_page.h"
#include "peer/study/compare/comparison.h"
#include "peer/study/compare/first_map.h"

namespace gv {

/// The report of one run or of many; `tuned`: the trials by which their rates were found; `maps`:
/// who is first where, if that was asked. Reads
/// more from their folders where a figure needs it (who waited for whom, the moments of eight
/// rounds). Throws UnusableRun for what is damaged, std::invalid_argument where runs cannot be
/// compared (see compare_runs).
RunReport make_report(const std::vector<StoredRun>& runs,
                      const CompareOptions& options,
                      const std::vector<StoredRun>& tuned = {},
                      const std::vector<FirstMap>& maps = {});

}  // namespace gv
