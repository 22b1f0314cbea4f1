#include "peer/wire/tcp/held_turns.h"

#include <utility>

namespace gv {

void HeldTurns::ask(Turn turn) {
  const std::lock_guard lock(mutex_);
  if (!closed_) turn_ = turn;
  if (closed_ && turn == Turn::evaluate) told_.evaluation.reset();
}

Told HeldTurns::told() const {
  const std::lock_guard lock(mutex_);
  return told_;
}

void HeldTurns::after_job(std::function<void()> ended) {
  {
    const std::lock_guard lock(mutex_);
    if (turn_ != Turn::none) {
      ended_ = std::move(ended);
      return;
    }
  }
  ended();
}

Turn HeldTurns::at_hand() const {
  const std::lock_guard lock(mutex_);
  return ended_ ? turn_ : Turn::none;
}

/// Returns who waits for the end of the turn; empty: nobody does. Called under the lock.
std::function<void()> HeldTurns::end_turn() {
  if (!ended_) return {};
  turn_ = Turn::none;
  return std::exchange(ended_, {});
}

void HeldTurns::done(const Told& told) {
  std::function<void()> ended;
  {
    const std::lock_guard lock(mutex_);
    take(told, told_);
    ended = end_turn();
  }
  if (ended) ended();
}

void HeldTurns::tell(const Told& told) {
  const std::lock_guard lock(mutex_);
  take(told, told_);
}

void HeldTurns::close() {
  std::function<void()> ended;
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    if (turn_ == Turn::evaluate) told_.evaluation.reset();
    ended = end_turn();
    turn_ = Turn::none;
  }
  if (ended) ended();
}

void HeldTurns::forget() {
  const std::lock_guard lock(mutex_);
  ended_ = {};
  turn_ = Turn::none;
}

}  // namespace gv
