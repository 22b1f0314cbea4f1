#include "optim/train/turns.h"

#include <utility>

namespace gv {

void Turns::ask(Turn turn) {
  if (program_) {
    if (!closed()) done(program_(turn));
    return;
  }
  const std::lock_guard lock(mutex_);
  if (!closed_) turn_ = turn;
}

void Turns::after_job(std::function<void()> ended) {
  {
    const std::lock_guard lock(mutex_);
    if (turn_ != Turn::none) {
      ended_ = std::move(ended);
      return;
    }
  }
  ended();
}

Turn Turns::at_hand() const {
  const std::lock_guard lock(mutex_);
  return ended_ ? turn_ : Turn::none;
}

void Turns::forget() {
  const std::lock_guard lock(mutex_);
  ended_ = {};
  turn_ = Turn::none;
}

void Turns::take(const Told& told) {
  if (told.loss) loss_ = *told.loss;
  if (told.rate) rate_ = *told.rate;
  if (told.evaluation) evaluation_ = *told.evaluation;
  if (told.state) state_ = *told.state;
}

/// Under the lock. Who waits for the end of the turn; empty: nobody does.
std::function<void()> Turns::end_turn() {
  if (!ended_) return {};
  turn_ = Turn::none;
  return std::exchange(ended_, {});
}

void Turns::done(const Told& told) {
  std::function<void()> ended;
  {
    const std::lock_guard lock(mutex_);
    take(told);
    ended = end_turn();
  }
  if (ended) ended();
}

void Turns::close() {
  std::function<void()> ended;
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    ended = end_turn();
    turn_ = Turn::none;
  }
  if (ended) ended();
}

bool Turns::closed() const {
  const std::lock_guard lock(mutex_);
  return closed_;
}

double Turns::loss() const {
  const std::lock_guard lock(mutex_);
  return loss_;
}

double Turns::rate() const {
  const std::lock_guard lock(mutex_);
  return rate_;
}

Evaluation Turns::evaluation() const {
  const std::lock_guard lock(mutex_);
  return evaluation_;
}

std::string Turns::state() const {
  const std::lock_guard lock(mutex_);
  return state_;
}

}  // namespace gv
