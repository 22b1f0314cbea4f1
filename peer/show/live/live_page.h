#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "peer/record/report/metrics.h"
#include "peer/show/live/observed_run.h"

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

/// 'sha256-...' of an inline script or style (CSP Level 3, section 2.3.1).
std::string csp_hash(std::string_view inline_text);

/// The curves of a run over its rounds, each a figure of its own: loss, accuracy (where there is
/// one) and consensus distance. Values that are not finite are left out.
std::string live_figures(const std::vector<MetricsRow>& curve);

}  // namespace gv
