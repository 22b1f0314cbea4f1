#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>

#include "optim/train/program_replica.h"

namespace gv::embed {

/// Turns of a program whose peer lives in virtual time: the simulator stands still while the
/// program, on a thread of its own, has its turn, and the program while it has none. So of all
/// programs of a simulation one at a time is at work.
class SeatTurns : public Turns {
 public:
  bool evaluates = false;  ///< what it has no answer to is over when it is asked

  // For the simulator.
  void ask(Turn turn) override;
  Told told() const override;
  void end();  ///< there are no more: wait() says `over`
  /// Returns whether the job that has just asked for a turn, or gone on with it, does not end yet:
  /// the program waits, within that turn, for what others have to do. Once.
  bool take_hold();
  /// It is done: until its turn has ended, or it yields again.
  void resume();

  // For the program.
  Turn at_hand() const;
  /// The turn that wait() has given it and that it has not ended; or `none`.
  Turn given() const;
  /// Its turn; `none`: there was none for so long.
  Turn wait(std::chrono::nanoseconds at_most);
  /// Within its turn: the simulator goes on until it resumes this program. False: not yet, within
  /// this time. Also where no turn comes any more.
  bool yield(std::chrono::nanoseconds at_most);
  /// Ends the turn given. Without one it only takes what is told: a turn that has come since it
  /// last waited is none that it could have done.
  void done(const Told& told);
  /// It takes no turn any more: the one at hand ends, and so does each that is asked for.
  void close();

 private:
  void let_it_work(std::unique_lock<std::mutex>& lock);

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  Turn turn_ = Turn::none;
  bool given_ = false;  ///< turn_, to the program
  bool yields_ = false;
  bool holds_ = false;    ///< the simulator's: see take_hold()
  bool yielded_ = false;  ///< the program's: what it waits for has not been seen to be over
  bool closed_ = false;
  bool over_ = false;
  Told told_;
};

}  // namespace gv::embed
