#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "peer/record/report/metrics.h"
#include "peer/show/live/observed_run.h"

namespace gv {

// The parts of a run's page. Each is HTML without scripts and without style attributes, in which
// everything that came from outside is escaped.

/// The style of the parts below.
std::string live_style();

/// Name, round, pace, time left, number of peers.
std::string live_head(const RunView& view);
/// A table with one row per peer.
std::string live_peers(const RunView& view);

/// The whole page in its current state; its script (30 lines) inserts later parts as they arrive.
std::string live_page(const RunView& view, const std::vector<MetricsRow>& curve);
/// The Content-Security-Policy: allows the page its one script, its one style, and its own origin.
std::string live_page_policy();

/// 'sha256-...' of an inline script or style (CSP Level 3, section 2.3.1).
std::string csp_hash(std::string_view inline_text);

/// The curves of a run over its rounds, each a figure of its own: loss, accuracy (if the run has
/// one) and consensus distance. Values that are not finite are left out.
std::string live_figures(const std::vector<MetricsRow>& curve);

}  // namespace gv
