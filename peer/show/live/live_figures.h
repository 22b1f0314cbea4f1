#pragma once

#include <string>
#include <vector>

#include "peer/record/report/metrics.h"

namespace gv {

/// The curves of a run over its rounds, each a figure of its own: loss, accuracy (where there is
/// one) and consensus distance. Values that are not finite are left out.
std::string live_figures(const std::vector<MetricsRow>& curve);

}  // namespace gv
