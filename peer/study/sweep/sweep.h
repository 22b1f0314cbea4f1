#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "peer/fleet/json/json.h"
#include "peer/launch/process.h"
#include "peer/study/sweep/plan/trial_plan.h"
#include "peer/study/sweep/sweep_folder.h"
#include "peer/study/sweep/sweep_state.h"
#include "peer/study/sweep/trial_job.h"

namespace gv {

/// Processes that run trials, one at a time each. If a process dies, its trial fails and a new
/// process replaces it. None outlives the pool or this process.
class WorkerPool {
 public:
  struct Running {
    TrialJob job;
    std::uint64_t round = 0;
    std::uint64_t rounds = 0;  ///< 0 if unknown
    std::chrono::steady_clock::time_point since;
  };
  struct Ended {
    TrialJob job;
    TrialOutcome outcome;
  };

  /// Each process is started as `program sweep --worker stdin`.
  WorkerPool(std::string program, std::size_t size);

  bool has_room() const;
  /// Throws std::runtime_error if no process can be started.
  void start(const TrialJob& job);
  /// Waits until a trial ends, a signal arrives or the time is over.
  std::vector<Ended> wait(std::chrono::milliseconds most);
  std::vector<Running> running() const;

 private:
  struct Worker {
    std::unique_ptr<Child> child;
    std::optional<Running> running;
    std::deque<std::string> last_words;
  };
  void hear(Worker& worker, std::vector<Ended>& ended);
  void handle_line(Worker& worker, const std::string& line, std::vector<Ended>& ended);

  std::string program_;
  std::vector<Worker> workers_;
};

/// Runs a worker process: reads jobs as lines from stdin and writes outcomes to stdout until stdin
/// ends. `program`: used for real runs.
int run_worker(const std::string& program, const std::string& version);

struct SweepOptions {
  std::string program;      ///< path of this program
  std::size_t workers = 1;  ///< simultaneous trials
  std::function<bool()> interrupted;
};

/// Callbacks while a sweep runs.
struct SweepEvents {
  std::function<void(const TrialSlot&, const TrialOutcome&)> on_end;
  std::function<void(std::size_t family, const TunedFamily&)> on_tuned;
  /// Called often; `elsewhere`: the other process that this one waits for.
  std::function<void(const std::vector<WorkerPool::Running>&, const std::string& elsewhere)>
      on_tick;
};

/// Runs a sweep together with other invocations: claims ready trials in the order of their numbers,
/// passes them to workers and handles the outcomes until nothing is left here or elsewhere. Uses
/// processes, not threads.
class Sweep {
 public:
  Sweep(const SweepPlan& plan,
        const SweepFolder& folder,
        SweepState& state,
        SweepOptions options,
        SweepEvents events);

  /// Returns false if interrupted.
  bool run();
  /// Returns the trials that failed in this process, with reasons.
  const std::map<std::size_t, std::string>& failed() const { return failed_; }
  std::size_t finished() const { return finished_; }  ///< in this process

 private:
  void start_what_is_ready();
  bool more_has_come();
  bool start(const ReadyTrial& trial);
  void take(const WorkerPool::Ended& ended);
  void drop_spent();
  void tell_tuned();

  const SweepPlan& plan_;
  const SweepFolder& folder_;
  SweepState& state_;
  SweepOptions options_;
  SweepEvents events_;
  Claims claims_;
  WorkerPool pool_;
  std::map<std::size_t, std::string> failed_;  ///< by trial number
  std::set<std::size_t> ours_;                 ///< slots that run or failed here
  std::set<std::size_t> running_;              ///< slots
  std::set<std::size_t> told_;                 ///< families
  std::set<std::size_t> dropped_;              ///< slots whose checkpoints are deleted
  std::string elsewhere_;
  bool left_ = false;  ///< something is ready that this process does not run yet
  std::size_t finished_ = 0;
};

/// The expected cost of a sweep. It includes that later rungs resume from earlier ones, but not
/// that diverged trials end early.
struct SweepEstimate {
  std::size_t tuned_families = 0;
  double tuning_trainings = 0;  ///< in full trainings
  std::size_t tuning_trials = 0;
  std::size_t trainings = 0;    ///< trainings to measure
  std::size_t replays = 0;      ///< trials that only run the clock
  double training_seconds = 0;  ///< mean of one training, on one core
  double measured_seconds = 0;  ///< duration of the estimate's own measurement
  std::size_t workers = 1;
  MemoryRoom memory;  ///< not measured for real runs
  double wall_seconds = 0;
  double disk_bytes = 0;
  double checkpoint_bytes = 0;  ///< in addition, during tuning: checkpoints for promotion
};

/// Trains some families for about two seconds in total, in this process and on one core, and counts
/// CPU time; on busy cores the sweep takes longer. Real runs are only counted. `memory`: the
/// figures that have already limited `workers`.
SweepEstimate estimate_sweep(const SweepPlan& plan, std::size_t workers, MemoryRoom memory);

std::string estimate_text(const SweepPlan& plan, const SweepEstimate& estimate);
Json estimate_json(const SweepPlan& plan, const SweepEstimate& estimate);

/// "1 cell", "3 cells"; `many`: the plural if it is irregular.
inline std::string counted(std::size_t number,
                           const std::string& one,
                           const std::string& many = "") {
  return std::to_string(number) + " " + (number == 1 ? one : many.empty() ? one + "s" : many);
}

using FailedTrials = std::map<std::size_t, std::string>;  ///< reasons by trial number

/// Reads the arguments of --only. Throws std::invalid_argument with the valid labels.
CellPattern only_pattern(const std::vector<std::string>& only, const SweepPlan& plan);

/// Estimates the remaining time from the trials finished in this process.
class SweepClock {
 public:
  SweepClock(const SweepPlan& plan, const SweepState& state);
  void count() { ++finished_; }
  std::optional<double> left() const;  ///< seconds

 private:
  const SweepState& state_;
  std::chrono::steady_clock::time_point began_;
  std::size_t finished_ = 0;
};

/// "tune 30/48  measure 21/48  2 running: one-peer s3 61 %  11 min left"
std::string progress_text(const SweepPlan& plan,
                          const SweepState& state,
                          const std::vector<WorkerPool::Running>& running,
                          const std::string& elsewhere,
                          std::optional<double> left);
/// "tune    d-psgd  12 trials  lr 0.08  935 rounds (base: 1.04x)"
std::string tuned_text(const SweepPlan& plan, std::size_t family, const TunedFamily& tuned);
/// Returns a line for each trial; ends with a newline, as does end_text.
std::string list_text(const SweepPlan& plan, const SweepFolder& folder, const SweepState& state);
/// Returns a summary of all trials, and the command that compares them.
std::string end_text(const SweepPlan& plan,
                     const SweepFolder& folder,
                     const SweepState& state,
                     const FailedTrials& failed);
/// Returns a line for each other build whose trials count as done: "warning: 3 trials are of
/// another build than this one: grapevine 1.0 (g++ 12.2.0, Release, sources ..)". Empty if all are
/// from this build, or contain no build.
std::string kept_builds_text(const SweepPlan& plan,
                             const SweepState& state,
                             const std::string& build);
/// Returns a line for each other build whose trials do not count and run again, with a way to keep
/// them; empty if there are none.
std::string left_builds_text(const SweepState& state);
/// Returns the summary as JSON, {"schema": "grapevine.sweep/1", ...}. The caller adds what was
/// finished in this process.
Json sweep_json(const SweepPlan& plan,
                const SweepFolder& folder,
                const SweepState& state,
                const FailedTrials& failed);

}  // namespace gv
