#pragma once

#include <chrono>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "peer/launch/process.h"
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

}  // namespace gv
