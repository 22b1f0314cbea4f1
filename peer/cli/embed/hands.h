#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>

#include "peer/cli/embed/program_turns.h"
#include "peer/wire/tcp/lent_thread.h"

namespace gv::embed {

/// The thread that does the arithmetic of a program's peer: the program's own while it waits, or
/// one of the library.
class Hands {
 public:
  explicit Hands(ProgramTurns& turns) : turns_(turns), lent_(std::make_shared<LentThread>(turns)) {}
  virtual ~Hands() = default;

  const std::shared_ptr<LentThread>& arithmetic() const { return lent_; }
  /// Waits for a turn on the program's thread, which is given it: see LentThread::lend.
  virtual Turn wait(std::chrono::nanoseconds at_most) {
    const Turn turn = lent_->lend(at_most);
    return turn == Turn::over ? turn : turns_.give();
  }
  /// See LentThread::help. In a turn no other thread does any job.
  void help(std::chrono::nanoseconds at_most) { lent_->help(at_most); }
  /// Makes help() come back soon; from any thread.
  void interrupt() { lent_->interrupt(); }
  /// Ends the turn given, or only tells.
  virtual void done(const Told& told) { turns_.end_given(told); }
  /// No more turns; see HeldTurns::close.
  virtual void close() { turns_.close(); }
  /// Returns whether no job can run now, for the program's thread.
  virtual bool rests() const { return true; }

 protected:
  ProgramTurns& turns_;
  std::shared_ptr<LentThread> lent_;
};

/// A thread of the library, which lends itself, and stands still while the program has a turn.
class OwnHands : public Hands {
 public:
  explicit OwnHands(ProgramTurns& turns);
  ~OwnHands() override;
  Turn wait(std::chrono::nanoseconds at_most) override;
  void done(const Told& told) override;
  void close() override;
  bool rests() const override { return over_ || turns_.at_hand() != Turn::none; }

 private:
  void work();

  std::mutex mutex_;
  std::condition_variable changed_;  ///< a turn has come, or is over
  std::atomic<bool> over_ = false;
  std::thread thread_;
};

}  // namespace gv::embed
