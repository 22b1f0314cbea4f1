#pragma once

#include <string>
#include <vector>

#include "gossip/costs.h"
#include "peer/fleet/flat_keys.h"
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
/// evaluations up to it, and what happened before them. `costs`: of each peer until then. `end`:
/// the round of the last evaluation, which is made again.
std::string earlier_metrics(const Assembly& fleet,
                            const RunFolder& folder,
                            Round round,
                            Round end,
                            const std::vector<Costs>& costs);
/// Keeps a simulator's checkpoints, one of each peer, where these read them. Throws
/// std::runtime_error with the path.
void keep_checkpoints(const Assembly& fleet,
                      const RunFolder& folder,
                      Disk& disk,
                      std::vector<Checkpoint> all);

// A run that goes on as another fleet: with more peers, on another graph, for longer.

/// Says why a fleet cannot go on as another one, with what to do; "" when it can, as far as the
/// files say. `before` and `after`: all keys of both.
std::string growth_objection(const Assembly& was,
                             const FlatKeys& before,
                             const Assembly& is,
                             const FlatKeys& after);

/// The checkpoints of the fleet that goes on, made of those of the one that was, all of one round:
/// each peer keeps its model and its optimizer, and where its minibatches stand as long as it
/// trains on the same samples. A peer that is new takes the model and the optimizer of its first
/// neighbour that was there, or of that one's. Throws std::invalid_argument where the method keeps
/// more of a peer than these, so that nobody can take its place.
std::vector<Checkpoint> grown_checkpoints(const Assembly& was,
                                          const Assembly& is,
                                          const std::vector<Checkpoint>& past);

}  // namespace gv
