#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "peer/wire/tcp/tcp_world.h"

namespace gv {

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
