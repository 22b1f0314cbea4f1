#pragma once

#include <string>
#include <vector>

#include "peer/checkpoint/checkpoint.h"
#include "peer/checkpoint/disk.h"
#include "peer/launch/run_folder.h"
#include "peer/runtime/assembly.h"

namespace gv {

/// What a run was started with, as its run.json keeps it, so that it can be resumed.
struct RunArguments {
  std::string file;
  std::vector<std::string> sets;
  std::string digest;  ///< of the fleet
};
/// Throws std::runtime_error with the path when the folder is not a run's.
RunArguments read_arguments(const std::string& run_folder);

/// The newest round of which every peer of the fleet has a valid checkpoint. Throws
/// std::runtime_error that says which rounds each peer has when there is none.
Round newest_common_round(const Assembly& fleet, const RunFolder& folder);
/// All peers' checkpoints of that round, for the simulator.
std::vector<Checkpoint> checkpoints_of(const Assembly& fleet, const RunFolder& folder, Round round);
/// Keeps a simulator's checkpoints, one of each peer, where these read them. Throws
/// std::runtime_error with the path.
void keep_checkpoints(const Assembly& fleet,
                      const RunFolder& folder,
                      Disk& disk,
                      std::vector<Checkpoint> all);

}  // namespace gv
