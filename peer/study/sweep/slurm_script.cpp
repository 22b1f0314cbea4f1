#include "peer/study/sweep/slurm_script.h"

#include <fmt/format.h>

#include "optim/printable.h"
#include "peer/launch/deploy/deploy.h"

namespace gv {

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
