#pragma once

#include <functional>
#include <mutex>

#include "optim/train/program_replica.h"

namespace gv {

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

}  // namespace gv
