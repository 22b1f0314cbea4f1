#pragma once

#include <functional>
#include <vector>

#include "peer/study/compare/comparison.h"
#include "peer/study/compare/first_map.h"

namespace gv {

/// Returns a map for each section of `options.by`: the fastest method to the target on each
/// network. The network does not change what a synchronous method computes, so its rounds come from
/// `runs` on any network. Its seconds per round come from running its own code in virtual time over
/// replicas that compute nothing (dry_run), on networks of one latency and one bandwidth in the
/// shape of the run's file. Methods whose rounds depend on the network are known only on the
/// networks of their runs. A note lists methods left out because they miss the target with a seed.
/// Reads the fleet files that the runs name. Throws std::invalid_argument if there is no target or
/// no method to draw, or if a file has changed or needs `options.trust`.
std::vector<FirstMap> map_runs(
    const std::vector<StoredRun>& runs,
    const CompareOptions& options,
    const std::function<void(std::size_t done, std::size_t all)>& on_progress);

}  // namespace gv
