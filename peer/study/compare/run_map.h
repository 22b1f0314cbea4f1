#pragma once

#include <functional>
#include <vector>

#include "peer/study/compare/comparison.h"
#include "peer/study/compare/first_map.h"

namespace gv {

/// A map for each section that `options.by` asks for: who is first to the target on which network.
/// What a synchronous method computes does not depend on the network, so its rounds are those of
/// `runs`, on whichever networks they were made; the seconds of a round are those of its own code
/// in virtual time over replicas that compute nothing (dry_run), on networks of one latency and one
/// bandwidth in the shape of the run's file. Methods whose rounds the network decides are known
/// where they were trained. Who misses the target with a seed is left out, which a note says.
///
/// Reads the fleet files that the runs name. Throws std::invalid_argument where there is no target,
/// no method to draw, a file has changed, or it needs `options.trust`.
std::vector<FirstMap> map_runs(
    const std::vector<StoredRun>& runs,
    const CompareOptions& options,
    const std::function<void(std::size_t done, std::size_t all)>& on_progress);

}  // namespace gv
