#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "peer/launch/process.h"
#include "peer/study/sweep/claims.h"
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

}  // namespace gv
