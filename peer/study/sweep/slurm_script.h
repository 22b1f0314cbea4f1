#pragma once

#include <string>
#include <vector>

namespace gv {

/// The settings that a job array of Slurm shares: every task is one more invocation of the same
/// sweep, and they agree by the claims in its folder, which all nodes must see.
struct SlurmJob {
  std::string name;
  std::string program;  ///< absolute
  std::string file;     ///< sweep file, absolute
  std::string folder;   ///< from which it runs
  std::string log;      ///< %a: the task
  std::vector<std::string> only;
  bool keep_trials = false;  ///< of other builds, as done
  std::size_t tasks = 1;
  std::size_t workers = 1;  ///< of each task
};
std::string slurm_script(const SlurmJob& job);

}  // namespace gv
