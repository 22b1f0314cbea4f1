#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "peer/fleet/fleet.h"
#include "peer/fleet/keys/batch_systems.h"
#include "peer/launch/agent/transport/ssh.h"
#include "peer/wire/tcp/tcp_world.h"

namespace gv {

/// Job of a batch system that this process runs in without being one of the job's tasks.
struct BatchJob {
  const BatchSystem* system = nullptr;
  std::string id;
  std::string nodes;  ///< in the batch system's list format: "node[1-4]"
  bool one_node = false;
};

/// Returns nothing if this process is in no job, or if the batch system has started it.
std::optional<BatchJob> batch_job(const BatchSystem& system,
                                  const std::function<const char*(const char*)>& variable);
/// Returns the job of `asked` that this process is in, because one batch system may run inside a
/// job of another; if `asked` is null, the job of the first system that has one.
std::optional<BatchJob> own_batch_job(const BatchSystem* asked = nullptr);

/// Returns the node names in `nodes`, from the batch system's command. Throws std::runtime_error.
std::vector<std::string> batch_nodes(const BatchSystem& system, const std::string& nodes);

/// Returns the values of `hosts` and `peers` that place the peers of a fleet on these nodes. Peers
/// without a host are spread evenly, in order; the file's hosts stand for nodes, in order. Throws
/// std::runtime_error with both numbers if there are fewer nodes than hosts.
std::vector<std::string> node_sets(const BatchSystem& system,
                                   const Fleet& fleet,
                                   const std::string& file,
                                   const std::vector<std::string>& sets,
                                   const std::vector<std::string>& nodes);

/// Returns the command that starts `command` on a node of our job.
std::vector<std::string> on_node(const BatchSystem& system,
                                 const std::string& node,
                                 const std::vector<std::string>& command);

/// Layout of our step's tasks in Slurm, and our place among the tasks.
struct SlurmStep {
  std::uint64_t job = 0;
  std::string nodes;           ///< in Slurm's list format: "node[1-4]"
  std::string tasks_per_node;  ///< tasks per node, in that order: "2(x3),1"
  bool blocks = true;          ///< tasks are laid out in blocks, as far as Slurm reports
  std::uint32_t task = 0, node = 0, local = 0;  ///< our number in all, our node's, on it
};

/// Returns nothing if no srun has started this process, or if a variable is missing.
std::optional<SlurmStep> slurm_step(const std::function<const char*(const char*)>& variable);
std::optional<SlurmStep> slurm_step();

/// Returns "2(x3),1" as 2, 2, 2, 1. Throws std::runtime_error.
std::vector<std::uint32_t> tasks_of_nodes(const std::string& text);

/// Returns the addresses of the peers: task i is peer i, and the tasks of a node listen at
/// consecutive ports from the job's own hundred. `names`: of the nodes, in order. Throws
/// std::runtime_error if there are fewer tasks than peers, if they are not laid out in blocks, so
/// that their nodes are unknown, or if a node has more than a hundred.
std::vector<PeerAddress> step_addresses(const SlurmStep& step,
                                        const std::vector<std::string>& names,
                                        PeerId peers);

}  // namespace gv
