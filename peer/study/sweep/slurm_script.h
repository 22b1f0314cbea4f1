#pragma once

#include <string>
#include <vector>

namespace gv {

/// The settings of a Slurm job array: each task is another invocation of the same sweep,
/// coordinated by the claims in its folder, which all nodes must see.
struct SlurmJob {
  std::string name;
  std::string program;  ///< absolute
  std::string file;     ///< sweep file, absolute
  std::string folder;   ///< working directory
  std::string log;      ///< path of the log; %a: the task
  std::vector<std::string> only;
  bool keep_trials = false;  ///< counts trials of other builds as done
  std::size_t tasks = 1;
  std::size_t workers = 1;  ///< workers per task
};
std::string slurm_script(const SlurmJob& job);

}  // namespace gv
