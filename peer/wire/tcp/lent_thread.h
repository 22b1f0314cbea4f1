#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <utility>

#include "peer/wire/tcp/arithmetic.h"
#include "peer/wire/tcp/held_turns.h"

namespace gv {

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
