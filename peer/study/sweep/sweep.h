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

/// Processes that run trials, one at a time each. One that dies costs its trial, and another takes
/// its place. None outlives the pool, nor this process.
class WorkerPool {
 public:
  struct Running {
    TrialJob job;
    std::uint64_t round = 0;
    std::uint64_t rounds = 0;  ///< 0: not known
    std::chrono::steady_clock::time_point since;
  };
  struct Ended {
    TrialJob job;
    TrialOutcome outcome;
  };

  /// `program`, started as `program sweep --worker stdin`.
  WorkerPool(std::string program, std::size_t size);

  bool has_room() const;
  /// Throws std::runtime_error when no process can be started.
  void start(const TrialJob& job);
  /// Waits until a trial has ended, a signal has come or the time is over.
  std::vector<Ended> wait(std::chrono::milliseconds most);
  std::vector<Running> running() const;

 private:
  struct Worker {
    std::unique_ptr<Child> child;
    std::optional<Running> running;
    std::deque<std::string> last_words;
  };
  void hear(Worker& worker, std::vector<Ended>& ended);
  void heed(Worker& worker, const std::string& line, std::vector<Ended>& ended);

  std::string program_;
  std::vector<Worker> workers_;
};

/// Runs such a process: jobs come as lines on stdin, and what becomes of them goes to stdout, until
/// stdin ends. `program`: for real runs.
int run_worker(const std::string& program, const std::string& version);

struct SweepOptions {
  std::string program;      ///< this one
  std::size_t workers = 1;  ///< trials at a time
  std::function<bool()> interrupted;
};

/// The events that are told of a sweep while it runs.
struct SweepEvents {
  std::function<void(const TrialSlot&, const TrialOutcome&)> on_end;
  std::function<void(std::size_t family, const TunedFamily&)> on_tuned;
  /// Often; `elsewhere`: who has claimed something that is waited for.
  std::function<void(const std::vector<WorkerPool::Running>&, const std::string& elsewhere)>
      on_tick;
};

/// Works off a sweep together with whoever else does: claims what is ready, in the order of the
/// numbers, gives it to workers and sees what comes of it, until nothing is left to do here or
/// elsewhere. Threads: none; processes do the work.
class Sweep {
 public:
  Sweep(const SweepPlan& plan,
        const SweepFolder& folder,
        SweepState& state,
        SweepOptions options,
        SweepEvents events);

  /// False when it was interrupted.
  bool run();
  /// Says what failed here, and why.
  const std::map<std::size_t, std::string>& failed() const { return failed_; }
  std::size_t finished() const { return finished_; }  ///< here

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
  std::map<std::size_t, std::string> failed_;  ///< by number
  std::set<std::size_t> ours_;                 ///< slots that run here or have failed here
  std::set<std::size_t> running_;              ///< slots
  std::set<std::size_t> told_;                 ///< families
  std::set<std::size_t> dropped_;              ///< slots whose checkpoints are gone
  std::string elsewhere_;
  bool left_ = false;  ///< something is ready that nobody here does yet
  std::size_t finished_ = 0;
};

}  // namespace gv
