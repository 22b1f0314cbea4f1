#pragma once

#include <string>
#include <vector>

#include "peer/show/live/run_view.h"

namespace gv {

// The parts of a run's page. Each is HTML without scripts and without style attributes, in which
// everything that came from outside is escaped.

/// Name, round, pace, what is left; how many peers there are.
std::string live_head(const RunView& view);
/// One row a peer.
std::string live_peers(const RunView& view);

/// The whole page, as it is now; its script (30 lines) puts in later parts as they come.
std::string live_page(const RunView& view, const std::vector<MetricsRow>& curve);
/// Lets the page run its one script and its one style, and talk to where it came from.
std::string live_page_policy();

}  // namespace gv
