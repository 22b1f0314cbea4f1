#pragma once

#include <string>
#include <vector>

#include "gossip/costs.h"
#include "peer/model/checkpoint/checkpoint_store.h"
#include "peer/record/disk/posix_disk.h"
#include "peer/record/run_folder.h"
#include "peer/runtime/assembly.h"

namespace gv {

/// The arguments that a run was started with, as its run.json keeps them for `--resume`.
struct RunArguments {
  std::string file;
  std::vector<std::string> sets;
  std::string digest;  ///< of the fleet
};
/// Throws std::runtime_error with the path when the folder is not a run's.
RunArguments read_arguments(const std::string& run_folder);

/// The newest round of which every peer of the fleet has a valid checkpoint; of a run that has lost
/// peers the one that was held before (run_folder.h). Throws std::runtime_error that says which
/// rounds each peer has when there is none.
Round newest_common_round(const Assembly& fleet, const RunFolder& folder);
/// All peers' checkpoints of that round, for the simulator.
std::vector<Checkpoint> checkpoints_of(const Assembly& fleet, const RunFolder& folder, Round round);
/// Returns what each peer took until the end of that round; see costs_at_end.
std::vector<Costs> costs_of(const Assembly& fleet, const RunFolder& folder, Round round);
/// The lines of metrics.jsonl that a run that goes on after `round` does not make again: the
/// evaluations up to it, and what happened before them. `costs`: of each peer until then.
std::string earlier_metrics(const Assembly& fleet,
                            const RunFolder& folder,
                            Round round,
                            const std::vector<Costs>& costs);
/// Keeps a simulator's checkpoints, one of each peer, where these read them. Throws
/// std::runtime_error with the path.
void keep_checkpoints(const Assembly& fleet,
                      const RunFolder& folder,
                      Disk& disk,
                      std::vector<Checkpoint> all);

}  // namespace gv
