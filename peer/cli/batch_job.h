#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "peer/cli/fleet_options.h"
#include "peer/fleet/keys/batch_systems.h"

namespace gv::cli {

/// A fleet file with all values set, and what reaches the machines of its peers.
struct Placed {
  FleetOptions file;
  const BatchSystem* batch = nullptr;  ///< not null: its hosts are the nodes of the job we are in
  bool local = false;                  ///< it is to stay on this machine, whatever hosts it has
};

/// Inside a job of a batch system the peers are put onto its nodes: where `given` names it, or
/// where it says `auto`, the job has several nodes and the file has no machines of its own. `local`
/// and `ssh` leave a job alone. "": what the file's `launch.with` says. Throws std::runtime_error
/// where there is no job, or too few nodes, and FleetError where the file cannot be read.
Placed place_fleet(const FleetOptions& file, const std::string& given);

/// A fleet that is to run as a batch job.
struct BatchArguments {
  FleetOptions file;
  std::string program;
  std::optional<std::uint64_t> nodes{};  ///< none: one for each host of the file
  std::vector<std::string> options{};    ///< of sbatch
};

/// Writes the script beside the run's folder and hands it to sbatch; the exit code. Throws
/// std::runtime_error where sbatch is not there or refuses.
int submit_fleet(const BatchArguments& arguments);

}  // namespace gv::cli
