#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace gv {

/// A batch script that runs a fleet on all nodes of its job.
struct SlurmFleet {
  std::string name;
  std::string program;                    ///< absolute; all nodes see it
  std::string file;                       ///< absolute
  std::string folder;                     ///< from which it runs
  std::string log;                        ///< %j: the job
  std::vector<std::string> arguments{};   ///< of `run`, behind the file
  std::vector<std::string> directives{};  ///< more of #SBATCH, such as --partition=gpu
  std::size_t nodes = 1;
  std::uint64_t cores = 1;  ///< of each node
};
std::string slurm_fleet_script(const SlurmFleet& fleet);

/// The job's name as #SBATCH takes it: letters, digits and `-`.
std::string slurm_job_name(const std::string& text);

/// Returns whether the text is an option of sbatch on one line: "--partition=gpu".
bool is_sbatch_option(const std::string& text);

}  // namespace gv
