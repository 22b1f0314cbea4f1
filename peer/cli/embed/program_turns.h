#pragma once

#include <limits>

#include "peer/wire/tcp/held_turns.h"

namespace gv::embed {

/// The turns that a program takes; what it has no answer to is over when it is asked.
class ProgramTurns : public HeldTurns {
 public:
  bool evaluates = false;
  bool saves = false;

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
};

}  // namespace gv::embed
