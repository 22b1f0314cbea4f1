#include "peer/cli/embed/step_watch.h"

namespace gv::embed {
namespace {

/// The first ones are slower: memory is touched, libraries choose their ways.
constexpr std::uint32_t warm_up_steps = 3;
constexpr std::uint32_t measured_steps = 20;

}  // namespace

Turn StepWatch::next() {
  if (steps_next_) return Turn::step;
  if (steps_ == warm_up_steps && began_ == Clock::time_point{}) began_ = Clock::now();
  if (steps_ < warm_up_steps + measured_steps)
    return turns_ == ProgramUse::Turns::gradient_and_step ? Turn::gradient_and_step
                                                          : Turn::gradient;
  const std::chrono::duration<double> took = Clock::now() - began_;
  if (seconds_per_step_ == 0) seconds_per_step_ = took.count() / measured_steps;
  return Turn::over;
}

void StepWatch::ended(Turn turn) {
  const bool gradient_alone = turns_ == ProgramUse::Turns::gradient;
  steps_next_ = turn == Turn::gradient && !gradient_alone;
  const bool is_step = turn == Turn::step || turn == Turn::gradient_and_step;
  if (is_step || (turn == Turn::gradient && gradient_alone)) ++steps_;
}

}  // namespace gv::embed
