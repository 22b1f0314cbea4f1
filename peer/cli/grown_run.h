#pragma once

#include <string>
#include <vector>

#include "peer/cli/fleet_options.h"
#include "peer/model/checkpoint/checkpoint_store.h"
#include "peer/record/run_folder.h"

namespace gv::cli {

/// A run that goes on in a new folder, as the fleet that it has become by `--set`.
struct GrownRun {
  std::string from;                       ///< the folder of the run that was
  std::vector<Checkpoint> checkpoints{};  ///< of all peers, see grown_checkpoints
  std::string lines{};                    ///< of metrics.jsonl until then
};

/// Takes the fleet file of a run, its `--set` values and those of `options` after them, which then
/// holds all. Throws std::invalid_argument and std::runtime_error that say why it cannot go on so.
GrownRun grow(const std::string& run_folder, FleetOptions& options);

/// The folder of the run that goes on, with what `--resume` finds in one.
RunFolder begin_grown(const Assembly& fleet, const FleetOptions& options, const GrownRun& grown);

}  // namespace gv::cli
