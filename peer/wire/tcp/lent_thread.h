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

#include "optim/train/program_replica.h"

namespace gv {

/// Does the arithmetic of one lane, job after job, while the loop serves the network.
class Arithmetic {
 public:
  virtual ~Arithmetic() = default;
  /// Takes a job from the loop; `ended` is called behind it, before the next one, on any thread.
  virtual void submit(std::function<void()> job, std::function<void()> ended) = 0;
  /// Takes no more jobs (loop only). Returns when the one at hand is over; what waits is dropped.
  virtual void end() = 0;
  virtual std::uint64_t done() const = 0;  ///< jobs, since the start
  virtual bool working() const = 0;        ///< on a job
};

/// Arithmetic on a thread of its own.
class ComputeThread : public Arithmetic {
 public:
  /// `compute_threads`: what one job may use.
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
  std::uint64_t submitted_ = 0;  ///< of the thread that submits
  std::atomic<std::uint64_t> done_ = 0;
  std::thread thread_;
};

/// Turns of a program on a thread of its own: the end of the job that asks is held back until the
/// program is done. Every function may be called from any thread.
class HeldTurns : public Turns {
 public:
  void ask(Turn turn) override;
  Told told() const override;

  /// Calls ended() now, or after the turn asked for; to be called behind each job.
  void after_job(std::function<void()> ended);
  /// Gives the program its turn, once the job that asked is over; or `none`.
  Turn at_hand() const;
  /// Ends the program's turn. Without one it only takes what is told.
  void done(const Told& told);
  /// Takes only what the program tells, in its turn or before the first one.
  void tell(const Told& told);
  /// No more turns: what waits for one ends, and each one asked for from now on ends at once. What
  /// was told of an earlier x is no answer to an evaluation that nobody makes.
  void close();
  /// Nobody waits for the turn at hand any more; it is over.
  void forget();

 private:
  std::function<void()> end_turn();

  mutable std::mutex mutex_;
  Turn turn_ = Turn::none;
  std::function<void()> ended_;  ///< of the job that asked; set: the job itself is over
  bool closed_ = false;
  Told told_;
};

/// The arithmetic of a program's peer, done by the program's own thread while it waits for its next
/// turn: so x needs no lock, and the caches stay warm. A job that asks for a turn ends when the
/// program has had it, and no other begins before. The program is not at work for the peer in its
/// turn: however long that takes, nobody takes the peer for stuck.
class LentThread : public Arithmetic {
 public:
  explicit LentThread(HeldTurns& turns) : turns_(turns) {}

  void submit(std::function<void()> job, std::function<void()> ended) override;
  void end() override;
  std::uint64_t done() const override { return done_; }
  bool working() const override { return working_; }

  /// Does jobs on the program's thread, one thread at a time, until the program has a turn, and
  /// returns that. `none`: there was none for so long, or interrupt() was called; `over`: the
  /// arithmetic has ended. The turn is at hand until HeldTurns::done().
  Turn lend(std::chrono::nanoseconds at_most);
  /// Does jobs that came behind the one that asked for the turn, on the program's thread and in
  /// that turn, until interrupt() or for so long. Who waits for something else than the end of its
  /// turn keeps nobody else waiting so. The caller's x is to be read and written meanwhile.
  void help(std::chrono::nanoseconds at_most);
  /// Makes lend() and help() come back soon, this time or the next; from any thread.
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
