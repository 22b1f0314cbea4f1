#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "peer/fleet/fleet.h"
#include "peer/fleet/keys/batch_systems.h"
#include "peer/launch/agent/ssh.h"

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

}  // namespace gv
