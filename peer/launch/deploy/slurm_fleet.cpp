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

std::string slurm_script(const SlurmJob& job) {
  std::string words;
  for (const std::string& only : job.only) words += " --only " + shell_word(only);
  if (job.keep_trials) words += " --keep-trials";
  return fmt::format(
      "#!/bin/sh\n"
      "#SBATCH --job-name={}\n"
      "#SBATCH --array=1-{}\n"
      "#SBATCH --ntasks=1\n"
      "#SBATCH --cpus-per-task={}\n"
      "#SBATCH --output={}\n"
      "# Each task claims trials in the sweep's folder until none is left; it may be killed and\n"
      "# submitted again at any time.\n"
      "cd {} || exit 5\n"
      "exec {} sweep {} --workers {}{}\n",
      slurm_job_name(job.name), job.tasks, job.workers, shell_word(job.log), shell_word(job.folder),
      shell_word(job.program), shell_word(job.file), job.workers, words);
}

}  // namespace gv
