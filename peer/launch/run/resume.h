#pragma once

#include <string>
#include <vector>

#include "gossip/seam/costs.h"
#include "peer/fleet/file/source.h"
#include "peer/model/checkpoint/checkpoint_store.h"
#include "peer/record/disk/posix_disk.h"
#include "peer/record/run_folder.h"
#include "peer/runtime/assembly/assembly.h"

namespace gv {

/// Arguments that a run was started with, kept in its run.json for `--resume`.
struct RunArguments {
  std::string file;
  std::vector<std::string> sets;
  std::string digest;  ///< digest of the fleet
};
/// Reads run.json. Throws std::runtime_error with the path if the folder is not a run's.
RunArguments read_arguments(const std::string& run_folder);

/// Returns the newest round of which every peer has a valid checkpoint; for a run that has lost
/// peers, the round held before (run_folder.h). Throws std::runtime_error with each peer's rounds
/// if there is none.
Round newest_common_round(const Assembly& fleet, const RunFolder& folder);
/// Returns all peers' checkpoints of that round, for the simulator.
std::vector<Checkpoint> checkpoints_of(const Assembly& fleet, const RunFolder& folder, Round round);
/// Returns each peer's costs until the end of that round; see costs_at_end.
std::vector<Costs> costs_of(const Assembly& fleet, const RunFolder& folder, Round round);
/// Returns the lines of metrics.jsonl that a run resumed after `round` does not write again: the
/// evaluations up to it, and the events before them. `costs`: of each peer until then. `end`:
/// round of the last evaluation, which is repeated.
std::string earlier_metrics(const Assembly& fleet,
                            const RunFolder& folder,
                            Round round,
                            Round end,
                            const std::vector<Costs>& costs);
/// Writes a simulator's checkpoints, one per peer, to the folders that these functions read. Throws
/// std::runtime_error with the path.
void keep_checkpoints(const Assembly& fleet,
                      const RunFolder& folder,
                      Disk& disk,
                      std::vector<Checkpoint> all);

// Resuming a run as another fleet: with more peers, on another graph, for longer.

/// Returns why a fleet cannot be resumed as another one and what to do, or "" if the files do not
/// prevent it. `before` and `after`: all keys of both.
std::string growth_objection(const Assembly& was,
                             const FlatKeys& before,
                             const Assembly& is,
                             const FlatKeys& after);

/// Makes the checkpoints of the new fleet from those of the old one, all of one round. Each peer
/// keeps its model, its optimizer, and its position in the minibatches if it trains on the same
/// samples. A new peer takes the model and the optimizer of the nearest peer that was there before.
/// Throws std::invalid_argument if the method keeps more state, which no peer could take over.
std::vector<Checkpoint> grown_checkpoints(const Assembly& was,
                                          const Assembly& is,
                                          const std::vector<Checkpoint>& past);

}  // namespace gv
