#include "peer/cli/embed/seat_turns.h"

#include <utility>

#include "optim/unknown_figure.h"

namespace gv::embed {

/// A simulation keeps no checkpoint, so that nobody needs a program's state.
void SeatTurns::ask(Turn turn) {
  if (turn == Turn::save || (turn == Turn::evaluate && !evaluates)) return;
  std::unique_lock lock(mutex_);
  if (closed_) return;
  turn_ = turn;
  let_it_work(lock);
}

void SeatTurns::let_it_work(std::unique_lock<std::mutex>& lock) {
  changed_.notify_all();
  changed_.wait(lock, [this] { return turn_ == Turn::none || yields_; });
  holds_ = yields_;
}

bool SeatTurns::take_hold() {
  const std::lock_guard lock(mutex_);
  return std::exchange(holds_, false);
}

void SeatTurns::resume() {
  std::unique_lock lock(mutex_);
  if (!yields_) return;
  yields_ = false;
  let_it_work(lock);
}

bool SeatTurns::yield(std::chrono::nanoseconds at_most) {
  std::unique_lock lock(mutex_);
  if (!closed_ && !over_ && !std::exchange(yielded_, true)) {
    yields_ = true;
    changed_.notify_all();
  }
  const auto is_over = [this] { return !yields_ || over_; };
  if (!changed_.wait_for(lock, at_most, is_over)) return false;
  yielded_ = false;
  return true;
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

Turn SeatTurns::given() const {
  const std::lock_guard lock(mutex_);
  return given_ ? turn_ : Turn::none;
}

Turn SeatTurns::wait(std::chrono::nanoseconds at_most) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, at_most, [this] { return over_ || turn_ != Turn::none; });
  if (over_) return Turn::over;
  given_ = turn_ != Turn::none;
  return turn_;
}

void SeatTurns::done(const Told& told) {
  const std::lock_guard lock(mutex_);
  take(told, told_);
  if (std::exchange(given_, false)) turn_ = Turn::none;
  changed_.notify_all();
}

void SeatTurns::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  turn_ = Turn::none;
  yields_ = false;
  changed_.notify_all();
}

}  // namespace gv::embed
