#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gv {

/// A batch system inside whose jobs `run` puts the peers onto the nodes of the job, with an agent
/// on each: what it tells in the environment, and its commands. A row is all that there is of one.
struct BatchSystem {
  std::string_view name;     ///< of launch.with and --launcher
  std::string_view title;    ///< as people write it
  std::string_view manner;   ///< "by ... inside a job of ..."
  std::string_view enter;    ///< what to do where this process is in no job
  std::string_view job;      ///< variables: what a job has, and says how it is called
  std::string_view nodes;    ///< its nodes, which `list` makes names of
  std::string_view count;    ///< how many they are; may be missing
  std::string_view started;  ///< what only processes have that it has started itself, a task each
  /// The command that prints the names of the nodes, a line each; "{}" stands for what `nodes`
  /// says.
  std::string_view list;
  /// The beginning of a command on the node "{}". It may use all that the job has there, and the
  /// end of one command must not be that of the others.
  std::string_view step;
};

std::span<const BatchSystem> batch_systems();
/// Returns null where the word is no batch system's name.
const BatchSystem* find_batch_system(std::string_view name);

/// Returns what launch.with and --launcher take: "auto", "local", "ssh" and the names of batch
/// systems.
std::vector<std::string> launcher_words();

}  // namespace gv
