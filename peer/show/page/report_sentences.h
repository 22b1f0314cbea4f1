#pragma once

#include <string>
#include <utility>
#include <vector>

#include "peer/show/page/report_page.h"
#include "peer/study/compare/comparison.h"

namespace gv {

/// A figure of the page's head, and what it is.
using Tile = std::pair<std::string, std::string>;

/// The name that the runs share, or what they are.
std::string title_of(const std::vector<StoredRun>& runs);
/// Says what was run, in one line.
std::string lead_of(const Comparison& comparison);

/// Says how one run went.
std::vector<Finding> run_findings(const StoredRun& run);
std::vector<Tile> run_tiles(const StoredRun& run);

/// Says who is first, and why: the verdicts and remarks of `compare`.
std::vector<Finding> compared_findings(const Comparison& comparison);
/// The best of all groups in each measure that has one; of several sections, the first of each.
std::vector<Tile> compared_tiles(const Comparison& comparison);

}  // namespace gv
