#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gv {

/// A batch system: inside its jobs, `run` places the peers on the job's nodes, with an agent on
/// each. The row holds everything about it: environment variables and commands.
struct BatchSystem {
  std::string_view name;     ///< name in launch.with and --launcher
  std::string_view title;    ///< name for display
  std::string_view manner;   ///< "by ... inside a job of ..."
  std::string_view enter;    ///< advice if this process is in no job
  std::string_view job;      ///< variable that a job has: its id
  std::string_view nodes;    ///< variable with its nodes, which `list` expands
  std::string_view count;    ///< variable with their number; may be unset
  std::string_view started;  ///< variable set only in tasks that it started itself
  /// Command that prints the names of the nodes, one per line; "{}" stands for the value of
  /// `nodes`.
  std::string_view list;
  /// Prefix of a command on the node "{}". The command may use the job's whole share there, and its
  /// end must not end the others.
  std::string_view step;
};

std::span<const BatchSystem> batch_systems();
/// Returns the batch system of this name, or null.
const BatchSystem* find_batch_system(std::string_view name);

/// Returns the values of launch.with and --launcher: "auto", "local", "ssh" and the batch systems.
std::vector<std::string> launcher_words();

}  // namespace gv
