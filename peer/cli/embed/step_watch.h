#pragma once

#include <chrono>
#include <cstdint>

#include "gossip/algorithm.h"
#include "optim/train/program_replica.h"

namespace gv::embed {

/// Steps of a program that trains alone, one after the other, and how long one takes.
class StepWatch {
 public:
  explicit StepWatch(ProgramUse::Turns turns) : turns_(turns) {}

  /// The turn that comes; `over`: enough have been timed.
  Turn next();
  /// The program has had this turn.
  void ended(Turn turn);
  double seconds_per_step() const { return seconds_per_step_; }  ///< 0: not known yet

 private:
  using Clock = std::chrono::steady_clock;

  ProgramUse::Turns turns_;
  std::uint32_t steps_ = 0;
  bool steps_next_ = false;
  Clock::time_point began_{};
  double seconds_per_step_ = 0;
};

}  // namespace gv::embed
