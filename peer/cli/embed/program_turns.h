#pragma once

#include <atomic>
#include <limits>

#include "peer/wire/tcp/lent_thread.h"

namespace gv::embed {

/// The turns that a program takes; what it has no answer to is over when it is asked. A turn that
/// another thread's job has brought, and that the program has not been given yet, is not one that
/// its next word could end.
class ProgramTurns : public HeldTurns {
 public:
  bool evaluates = false;
  bool saves = false;

  /// Gives the program the turn at hand; or `none`.
  Turn give() {
    const Turn turn = at_hand();
    if (turn != Turn::none) given_ = true;
    return turn;
  }
  /// Returns the turn that the program was given and has not ended; or `none`.
  Turn given() const { return given_ ? at_hand() : Turn::none; }
  /// Ends the turn given; without one it only takes what is told.
  void end_given(const Told& told) { given_.exchange(false) ? done(told) : tell(told); }

  void ask(Turn turn) override {
    if (turn == Turn::evaluate && !evaluates) return;
    if (turn == Turn::save && !saves) return;
    HeldTurns::ask(turn);
  }
  /// NaN stands for what the program has not said of its model.
  Told told() const override {
    Told told = HeldTurns::told();
    if (!told.evaluation)
      told.evaluation =
          Evaluation{.loss = std::numeric_limits<double>::quiet_NaN(), .accuracy = {}};
    return told;
  }

 private:
  std::atomic<bool> given_ = false;
};

}  // namespace gv::embed
