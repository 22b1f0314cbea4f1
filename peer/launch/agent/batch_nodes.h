#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "peer/fleet/fleet.h"
#include "peer/fleet/keys/batch_systems.h"
#include "peer/launch/agent/ssh.h"
#include "peer/wire/tcp/tcp_world.h"

namespace gv {

/// The job of a batch system that this process is in, without being one of its tasks.
struct BatchJob {
  const BatchSystem* system = nullptr;
  std::string id;
  std::string nodes;  ///< as the batch system writes lists: "node[1-4]"
  bool one_node = false;
};

/// Returns nothing where it is in none, or where the batch system has started this process.
std::optional<BatchJob> batch_job(const BatchSystem& system,
                                  const std::function<const char*(const char*)>& variable);
/// Returns the job of `asked` that this process is in, since one batch system may run inside a job
/// of another; null: of the first that it is in a job of.
std::optional<BatchJob> own_batch_job(const BatchSystem* asked = nullptr);

/// Returns the names of the nodes that `nodes` means, as the batch system's command tells them.
/// Throws std::runtime_error.
std::vector<std::string> batch_nodes(const BatchSystem& system, const std::string& nodes);

/// Returns the values of `hosts` and `peers` that put the peers of a fleet on these nodes. Peers
/// without a host are shared out evenly, in order; the file's hosts stand for nodes, in order.
/// Throws std::runtime_error with both numbers where there are fewer nodes than hosts.
std::vector<std::string> node_sets(const BatchSystem& system,
                                   const Fleet& fleet,
                                   const std::string& file,
                                   const std::vector<std::string>& sets,
                                   const std::vector<std::string>& nodes);

/// Returns a command as it is started on a node of the job that we are in.
std::vector<std::string> on_node(const BatchSystem& system,
                                 const std::string& node,
                                 const std::vector<std::string>& command);

/// The layout of our step's tasks, as Slurm has it, and our place among them.
struct SlurmStep {
  std::uint64_t job = 0;
  std::string nodes;           ///< as Slurm writes lists: "node[1-4]"
  std::string tasks_per_node;  ///< in the same order: "2(x3),1"
  bool blocks = true;          ///< the tasks are laid out in blocks, as far as it says
  std::uint32_t task = 0, node = 0, local = 0;  ///< our numbers: among all, of our node, on it
};

/// Returns nothing where no srun has started this process, or where it does not say all of it.
std::optional<SlurmStep> slurm_step(const std::function<const char*(const char*)>& variable);
std::optional<SlurmStep> slurm_step();

/// "2(x3),1" as 2, 2, 2, 1. Throws std::runtime_error.
std::vector<std::uint32_t> tasks_of_nodes(const std::string& text);

/// Returns where the peers are found: task i is peer i, and the tasks of a node listen at ports in
/// a row, of which each job has its own hundred. `names`: of the nodes, in order. Throws
/// std::runtime_error where there are fewer tasks than peers, where they are not laid out in
/// blocks, so that nobody can tell where they are, or where a node has more than a hundred.
std::vector<PeerAddress> step_addresses(const SlurmStep& step,
                                        const std::vector<std::string>& names,
                                        PeerId peers);

}  // namespace gv
