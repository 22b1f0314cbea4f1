#pragma once

#include <functional>
#include <string>

#include "peer/launch/agent/link_table.h"
#include "peer/launch/agent/machines.h"

namespace gv {

struct LinkBenchOptions {
  bool edges = false;    ///< only pairs with an edge of the graph between their peers
  double seconds = 0.5;  ///< duration of each stream; 0.2 to 3
  std::function<void(const std::string&)> on_progress;
};

/// Starts an agent on each machine of the fleet and measures the links between all machines (see
/// link_meter.h): those of disjoint pairs at the same time, then all streams of one machine at
/// once, which shows how its links share bandwidth. Failed measurements are among the findings.
LinkTable bench_links(const Assembly& fleet,
                      const LanOptions& options,
                      const LinkBenchOptions& bench);

}  // namespace gv
