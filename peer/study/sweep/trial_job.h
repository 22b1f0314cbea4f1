#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "peer/fleet/json/json.h"
#include "peer/record/fleet_record.h"
#include "peer/record/life/recorder.h"
#include "peer/runtime/assembly/assembly.h"
#include "peer/study/sweep/plan/trial_plan.h"
#include "peer/study/sweep/sweep_folder.h"

namespace gv {

/// A worker's job: a line of JSON on its stdin.
struct TrialJob {
  TrialSlot slot;
  std::string file;  ///< fleet file
  std::vector<std::string> sets;
  TrialIdentity identity;    ///< identity that `sets` must still have
  std::string working;       ///< folder in which it is built
  std::string final_folder;  ///< folder to which it is moved
  bool simulated = true;
  double fraction = 1;       ///< fraction of its rounds after which it ends: a rung of halving
  std::string replay_of;     ///< a trial of the same bits on another clock; may be none
  std::string goes_on_from;  ///< this trial in the previous rung, with checkpoints; may be none
  bool keeps_state = false;  ///< writes checkpoints at the end for the next rung
  bool keep_model = false;
};
std::string to_line(const TrialJob& job);
/// Throws std::runtime_error.
TrialJob job_of(const std::string& line);

/// The outcome of a trial.
struct TrialOutcome {
  bool done = false;
  std::string message;  ///< why it is not done, or a remark
};

/// Callback by which a trial reports its progress.
using TrialProgress = std::function<void(std::uint64_t round, std::uint64_t rounds)>;

/// Runs a trial, from its fleet to its folder in trials/. Throws what the fleet's parts throw.
/// `program`: used for real runs. `version`: the program's, for run.json.
TrialOutcome run_trial(const TrialJob& job,
                       const std::string& program,
                       const std::string& version,
                       const TrialProgress& progress);

/// Runs a simulated trial. A resumed trial writes the same bytes as one that runs from the
/// beginning.
TrialOutcome simulate_trial(const TrialJob& job,
                            const std::string& version,
                            const TrialProgress& progress);

/// Writes trial.json and summary.json, and moves the finished folder to trials/. Discards it if
/// another process was faster: both computed the same.
void publish_trial(const TrialJob& job, const TrialEnd& end, const std::string& summary);

/// Returns `fraction` of the rounds, rounded up to an evaluation so that there is a figure.
std::uint64_t rounds_in(double fraction, std::uint64_t rounds, std::uint64_t evaluate_every);

/// Returns the bytes of memory that a simulated trial of this fleet needs in this process: its data
/// unless mapped from files that all trials share, all replicas and messages of two rounds, and the
/// additional memory of an evaluation. Must be called in a fresh process, because memory that was
/// freed before does not count.
double memory_in_this_process(const Fleet& fleet);

/// Runs the measuring process: reads a job from stdin, prints {"bytes": ..}. Returns its exit code.
int tell_trial_memory();

/// The memory that trials need, and the memory available.
struct MemoryRoom {
  double trial_bytes = 0;                     ///< largest measured trial; 0: none
  std::optional<std::uint64_t> free_bytes{};  ///< none if unknown
  std::string unmeasured{};                   ///< reason of the last failed measurement, if any

  /// Returns how many of `wanted` trials fit at once; at least one. Keeps a tenth free for what was
  /// not measured.
  std::size_t fitting(std::size_t wanted) const;
  /// "one trial takes 180 MB, and 12.3 GB are free"
  std::string words() const;
};

/// Measures some families, evenly spread, each in its own process: `program sweep --worker memory`.
/// If one fails, only its figure is missing, because its trials will report the problem. Throws
/// std::runtime_error if no process can be started.
MemoryRoom memory_room(const SweepPlan& plan, const std::string& program);

/// Returns the bytes that the kernel can give to new processes without swapping: `MemAvailable` of
/// /proc/meminfo (proc(5)). Returns nothing if the text has no such line.
std::optional<std::uint64_t> available_in(const std::string& meminfo);

/// Returns the bytes that a control group may still allocate: its `memory.max` minus
/// `memory.current`, plus file pages not used lately (`inactive_file` of `memory.stat`), which can
/// be dropped (kernel documentation, admin-guide/cgroup-v2). Nothing without a limit or if invalid.
std::optional<std::uint64_t> left_in_group(const std::string& max,
                                           const std::string& current,
                                           const std::string& stat);

/// Returns the minimum over the machine, our control group and its parents; nothing if unknown.
std::optional<std::uint64_t> free_memory();

/// Returns the bytes free in the machine's swap space: `SwapFree` of /proc/meminfo.
std::optional<std::uint64_t> free_swap();

/// Returns whether the network does not influence what is computed, as long as no deadline passes:
/// for synchronous methods, unless something happens at a given time, or peers share work (then the
/// clock decides which peer computes what, and so the training loss that each peer sees).
bool clock_stands_alone(const Fleet& fleet);

/// Returns whether a peer waited for a neighbour for faults.deadline, so that the clock influenced
/// what was computed.
bool deadline_passed(const Assembly& fleet, const FleetRecord& end);

/// The files of a run, combined from the rounds of one run and the clock of another.
struct ClockReplay {
  std::string metrics;  ///< metrics.jsonl
  std::string summary;  ///< summary.json, without its newline
};

/// Returns the files of this fleet's run, given a run of the same bits on another network in
/// `trained`. What a synchronous method computes does not depend on the network, so only clock and
/// bytes come from a simulation of this fleet, over replicas that compute nothing. Returns nothing
/// if the clock matters after all, because a deadline passes or the rounds differ; then the fleet
/// must be trained. If `trained` ends before the fleet's last round, so does the replay. `on_life`:
/// see SimulationOptions. Throws std::runtime_error if `trained` cannot be read.
std::optional<ClockReplay> replay_clock(
    const Assembly& fleet,
    const std::string& trained,
    const std::function<void(const Recorder&, std::uint64_t life)>& on_life = {});

}  // namespace gv
