#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>

#include "optim/replica/program_replica.h"

namespace gv {

/// Does the arithmetic of one lane, one job at a time, while the loop serves the network.
class Arithmetic {
 public:
  virtual ~Arithmetic() = default;
  /// Queues a job of the loop; `ended` is called after it and before the next job, on any thread.
  virtual void submit(std::function<void()> job, std::function<void()> ended) = 0;
  /// Drops waiting and further jobs, and returns when the current one is over. Loop only.
  virtual void end() = 0;
  virtual std::uint64_t done() const = 0;  ///< number of jobs done
  virtual bool working() const = 0;        ///< returns whether a job is running
};

/// Arithmetic on a separate thread.
class ComputeThread : public Arithmetic {
 public:
  /// `compute_threads`: number of threads that one job may use.
  explicit ComputeThread(int compute_threads);
  ~ComputeThread() override;
  ComputeThread(const ComputeThread&) = delete;
  ComputeThread& operator=(const ComputeThread&) = delete;

  void submit(std::function<void()> job, std::function<void()> ended) override;
  void end() override;
  std::uint64_t done() const override { return done_; }
  bool working() const override { return submitted_ > done_; }

 private:
  using Job = std::pair<std::function<void()>, std::function<void()>>;
  void work(int compute_threads);

  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Job> jobs_;
  bool stopping_ = false;
  std::uint64_t submitted_ = 0;  ///< written by the submitting thread only
  std::atomic<std::uint64_t> done_ = 0;
  std::thread thread_;
};

/// Turns of a program on its own thread: the end of a job that asks for a turn is delayed until the
/// program is done. All functions may be called from any thread.
class HeldTurns : public Turns {
 public:
  void ask(Turn turn) override;
  Told told() const override;

  /// Calls ended() now or, if the job has asked for a turn, after that turn. Call after each job.
  void after_job(std::function<void()> ended);
  /// Returns the program's turn once the job that asked for it is over, otherwise `none`.
  Turn at_hand() const;
  /// Takes the program's results and ends its turn, if there is one.
  void done(const Told& told);
  /// Takes the program's results, in its turn or before the first one, without ending a turn.
  void tell(const Told& told);
  /// Ends the current turn, and from now on each requested turn at once. Drops the evaluation of an
  /// earlier x, which would not answer a new request.
  void close();
  /// Ends the turn without calling ended().
  void forget();

 private:
  std::function<void()> end_turn();

  mutable std::mutex mutex_;
  Turn turn_ = Turn::none;
  std::function<void()> ended_;  ///< end of the job that asked; set once the job itself is over
  bool closed_ = false;
  Told told_;
};

/// Arithmetic of a program's peer, done by the program's own thread while it waits for its next
/// turn: so x needs no lock, and the caches stay warm. A job that asks for a turn ends after the
/// turn, and no other begins before. A turn does not count as work, so a long one does not make the
/// peer look stuck.
class LentThread : public Arithmetic {
 public:
  explicit LentThread(HeldTurns& turns) : turns_(turns) {}

  void submit(std::function<void()> job, std::function<void()> ended) override;
  void end() override;
  std::uint64_t done() const override { return done_; }
  bool working() const override { return working_; }

  /// Does jobs on the calling thread, one thread at a time, until the program has a turn, and
  /// returns it. Returns `none` after `at_most` or interrupt(), and `over` once the arithmetic has
  /// ended. The turn lasts until HeldTurns::done().
  Turn lend(std::chrono::nanoseconds at_most);
  /// Does jobs that follow the one that asked for the turn, on the program's thread during its
  /// turn, until interrupt() or for `at_most`. So a program that waits in its turn for something
  /// else does not block other peers. Jobs may read and write the caller's x.
  void help(std::chrono::nanoseconds at_most);
  /// Makes lend() and help() return soon, this time or the next; from any thread.
  void interrupt();

 private:
  using Job = std::pair<std::function<void()>, std::function<void()>>;
  void work(Job job);
  void work_in_turn(Job job);
  void rest();

  HeldTurns& turns_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Job> jobs_;
  bool ended_ = false;
  bool interrupted_ = false;
  std::atomic<bool> working_ = false;
  std::atomic<std::uint64_t> done_ = 0;
};

}  // namespace gv
