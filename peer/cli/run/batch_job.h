#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "peer/cli/fleet_options.h"
#include "peer/fleet/keys/batch_systems.h"

namespace gv::cli {

/// A fleet file with all values set, and the way to reach the machines of its peers.
struct Placed {
  FleetOptions file;
  const BatchSystem* batch = nullptr;  ///< if not null, hosts are nodes of our job in it
  bool local = false;                  ///< stays on this machine, whatever hosts it has
};

/// Places the peers on the nodes of the batch job that we are in, if `given` names its system, or
/// if `given` is `auto`, the job has several nodes and the file has no machines of its own. `local`
/// and `ssh` ignore a job; "" takes the file's `launch.with`. Throws std::runtime_error if there is
/// no job or too few nodes, and FleetError if the file cannot be read.
Placed place_fleet(const FleetOptions& file, const std::string& given);

/// A fleet to run as a batch job.
struct BatchArguments {
  FleetOptions file;
  std::string program;
  std::optional<std::uint64_t> nodes{};  ///< by default one for each host of the file
  std::vector<std::string> options{};    ///< options of sbatch
};

/// Writes the script next to the run's folder and submits it by sbatch. Returns the exit code.
/// Throws std::runtime_error if sbatch is missing or refuses.
int submit_fleet(const BatchArguments& arguments);

}  // namespace gv::cli
