#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "peer/fleet/fleet.h"
#include "peer/launch/agent/ssh.h"

namespace gv {

/// The allocation of Slurm that this process is in, outside its steps.
struct SlurmAllocation {
  std::string id;
  std::string nodes;  ///< as Slurm writes lists: "node[1-4]"
  bool one_node = false;
};

/// Returns nothing where it is in none, or where srun has started this process.
std::optional<SlurmAllocation> slurm_job(const std::function<const char*(const char*)>& variable);
std::optional<SlurmAllocation> slurm_job();

/// The names of the job's nodes, as `scontrol show hostnames` tells them. Throws
/// std::runtime_error.
std::vector<std::string> slurm_nodes(const SlurmAllocation& job);

/// Returns the values of `hosts` and `peers` that put the peers of a fleet on these nodes. Peers
/// without a host are shared out evenly, in order; the file's hosts stand for nodes, in order.
/// Throws std::runtime_error with both numbers where there are fewer nodes than hosts.
std::vector<std::string> slurm_sets(const Fleet& fleet,
                                    const std::string& file,
                                    const std::vector<std::string>& sets,
                                    const std::vector<std::string>& nodes);

/// An agent on a node, as a step of the job.
std::vector<std::string> srun_argv(const std::string& node,
                                   const std::string& program,
                                   const AgentWords& words);

}  // namespace gv
