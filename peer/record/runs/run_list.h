#pragma once

#include <functional>
#include <string>
#include <vector>

#include "peer/record/runs/stored_run.h"

namespace gv {

/// Runs that were asked for, in an order that the arguments' order does not change.
struct RunList {
  std::vector<StoredRun> runs;
  std::vector<StoredRun> tuned;       ///< a sweep's trials that only found a rate
  std::vector<std::string> left_out;  ///< "PATH: reason", sorted
};

/// Reads the folders of runs; of sweeps, all under trials/; of anything else, the runs in it.
/// Those that cannot be used are left out, with the reason. Throws std::invalid_argument for what
/// is no folder.
RunList read_runs(const std::vector<std::string>& folders,
                  const std::function<void(std::size_t done, std::size_t all)>& on_progress);

}  // namespace gv
