#include "peer/embed/seat_turns.h"

#include "peer/runtime/unknown_figure.h"

namespace gv::embed {

/// A simulation keeps no checkpoint, so that nobody needs a program's state.
void SeatTurns::ask(Turn turn) {
  if (turn == Turn::save || (turn == Turn::evaluate && !evaluates)) return;
  std::unique_lock lock(mutex_);
  if (closed_) return;
  turn_ = turn;
  changed_.notify_all();
  changed_.wait(lock, [this] { return turn_ == Turn::none; });
}

Told SeatTurns::told() const {
  const std::lock_guard lock(mutex_);
  Told told = told_;
  if (!told.evaluation) told.evaluation = Evaluation{.loss = unknown_figure(), .accuracy = {}};
  return told;
}

void SeatTurns::end() {
  const std::lock_guard lock(mutex_);
  over_ = true;
  changed_.notify_all();
}

Turn SeatTurns::at_hand() const {
  const std::lock_guard lock(mutex_);
  return turn_;
}

Turn SeatTurns::wait(std::chrono::nanoseconds at_most) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, at_most, [this] { return over_ || turn_ != Turn::none; });
  return over_ ? Turn::over : turn_;
}

void SeatTurns::done(const Told& told) {
  const std::lock_guard lock(mutex_);
  take(told, told_);
  turn_ = Turn::none;
  changed_.notify_all();
}

void SeatTurns::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  turn_ = Turn::none;
  changed_.notify_all();
}

}  // namespace gv::embed
