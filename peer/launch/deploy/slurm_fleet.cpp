#include <fmt/format.h>

#include "optim/printable.h"
#include "peer/launch/deploy/deploy.h"

namespace gv {

std::string slurm_job_name(const std::string& text) {
  std::string name;
  for (const char c : text)
    name += (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ? c : '-';
  return name;
}

bool is_sbatch_option(const std::string& text) {
  constexpr std::size_t longest = 500;
  return text.size() > 1 && text.size() <= longest && text.front() == '-' && is_printable(text);
}

/// The program replaces the shell (exec), so that it gets the signal when the job is cancelled, and
/// has the time until KillWait to save.
std::string slurm_fleet_script(const SlurmFleet& fleet) {
  std::string directives, words;
  for (const std::string& each : fleet.directives) directives += fmt::format("#SBATCH {}\n", each);
  for (const std::string& each : fleet.arguments) words += fmt::format(" {}", shell_word(each));
  return fmt::format(
      "#!/bin/sh\n"
      "#SBATCH --job-name={}\n"
      "#SBATCH --nodes={}\n"
      "#SBATCH --ntasks-per-node=1\n"
      "#SBATCH --cpus-per-task={}\n"
      "#SBATCH --output={}\n"
      "{}"
      "cd {} || exit 5\n"
      "exec {} run {} --launcher slurm{}\n",
      slurm_job_name(fleet.name), fleet.nodes, fleet.cores, shell_word(fleet.log), directives,
      shell_word(fleet.folder), shell_word(fleet.program), shell_word(fleet.file), words);
}

}  // namespace gv
