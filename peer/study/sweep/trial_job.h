#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "peer/fleet/json/json.h"
#include "peer/study/sweep/sweep_folder.h"
#include "peer/study/sweep/trial_plan.h"

namespace gv {

/// The work that a worker is to do: a line of JSON on its stdin.
struct TrialJob {
  TrialSlot slot;
  std::string file;  ///< fleet file
  std::vector<std::string> sets;
  TrialIdentity identity;    ///< what these must still mean
  std::string working;       ///< where it is put together
  std::string final_folder;  ///< where it appears
  bool simulated = true;
  double fraction = 1;       ///< of its rounds, after which it ends: a rung of halving
  std::string replay_of;     ///< a trial of the same bits, whose clock alone is new; "": none
  std::string goes_on_from;  ///< the same trial of the rung before, with its checkpoints; "": none
  bool keeps_state = false;  ///< checkpoints at its end, for the rung after it
  bool keep_model = false;
};
std::string to_line(const TrialJob& job);
/// Throws std::runtime_error.
TrialJob job_of(const std::string& line);

/// The outcome of a trial.
struct TrialOutcome {
  bool done = false;
  std::string message;  ///< why not, or what there is to say
};

/// The call by which a trial tells how far it is.
using TrialProgress = std::function<void(std::uint64_t round, std::uint64_t rounds)>;

/// Runs a trial, from its fleet to its folder in trials/. Throws what the fleet's parts throw.
/// `program`: for real runs; `version`: of the program, for run.json.
TrialOutcome run_trial(const TrialJob& job,
                       const std::string& program,
                       const std::string& version,
                       const TrialProgress& progress);

/// The simulated ones. What they make of what they go on from is, to the byte, what they would have
/// made from the beginning.
TrialOutcome simulate_trial(const TrialJob& job,
                            const std::string& version,
                            const TrialProgress& progress);

/// Its folder, in which all is written but the summary, goes to trials/ with it. When another
/// process has been quicker, nothing happens: the same was computed twice.
void publish_trial(const TrialJob& job, const TrialEnd& end, const std::string& summary);

/// Returns how many rounds are `fraction` of all: up to an evaluation, so that there is a figure.
std::uint64_t rounds_in(double fraction, std::uint64_t rounds, std::uint64_t evaluate_every);

/// Bytes that a simulated trial of this fleet takes of its own, in this process: its data where
/// they are not mapped from files, which all trials share, all replicas and messages of two rounds,
/// and what an evaluation adds to each. To be asked in a fresh process, since memory that was given
/// back before does not show.
double memory_in_this_process(const Fleet& fleet);

/// Runs such a process: a job's line on stdin, and {"bytes": ..} on stdout. Returns its exit code.
int tell_trial_memory();

/// The memory that trials take, and how much there is.
struct MemoryRoom {
  double trial_bytes = 0;                     ///< of the largest that was measured; 0: none
  std::optional<std::uint64_t> free_bytes{};  ///< nothing: not known
  std::string unmeasured{};                   ///< why the last one could not be; "": all could

  /// Returns how many of `wanted` trials fit at once; at least one. A tenth stays free, for what
  /// was not measured.
  std::size_t fitting(std::size_t wanted) const;
  /// "one trial takes 180 MB, and 12.3 GB are free"
  std::string words() const;
};

/// Asks for some families, evenly spread, each in a process of its own: `program sweep --worker
/// memory`. One that ends without a word costs its figure alone: what is wrong, its trials will
/// say. Throws std::runtime_error where no process can be started.
MemoryRoom memory_room(const SweepPlan& plan, const std::string& program);

/// Returns what the kernel can give to new processes without swapping: `MemAvailable` of
/// /proc/meminfo (proc(5)), bytes. Nothing where the text does not say it.
std::optional<std::uint64_t> available_in(const std::string& meminfo);

/// Returns what a control group still may take, bytes: its `memory.max` less `memory.current`, but
/// file pages that nobody used lately (`inactive_file` of `memory.stat`) make room (kernel
/// documentation, admin-guide/cgroup-v2). Nothing where it has no limit, or the texts are others.
std::optional<std::uint64_t> left_in_group(const std::string& max,
                                           const std::string& current,
                                           const std::string& stat);

/// The least of both, over our control group and those around it; nothing where none is known.
std::optional<std::uint64_t> free_memory();

/// Returns what is left of the machine's swap space, bytes: `SwapFree` of /proc/meminfo.
std::optional<std::uint64_t> free_swap();

}  // namespace gv
