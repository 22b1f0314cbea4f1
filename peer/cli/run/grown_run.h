#pragma once

#include <string>
#include <vector>

#include "peer/cli/fleet_options.h"
#include "peer/model/checkpoint/checkpoint_store.h"
#include "peer/record/run_folder.h"

namespace gv::cli {

/// A run resumed in a new folder, as a fleet changed by `--set`.
struct GrownRun {
  std::string from;                       ///< folder of the earlier run
  std::vector<Checkpoint> checkpoints{};  ///< checkpoints of all peers, see grown_checkpoints
  std::string lines{};                    ///< lines of metrics.jsonl until then
};

/// Takes the fleet file and `--set` values of a run, adds those of `options`, and stores all in
/// `options`. Throws std::invalid_argument and std::runtime_error if the run cannot be resumed so.
GrownRun grow(const std::string& run_folder, FleetOptions& options);

/// Makes the folder of the resumed run, with what `--resume` needs.
RunFolder begin_grown(const Assembly& fleet, const FleetOptions& options, const GrownRun& grown);

}  // namespace gv::cli
