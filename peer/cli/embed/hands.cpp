#include "peer/cli/embed/hands.h"

#include <pthread.h>

#include "peer/cli/embed/quiet_thread.h"

namespace gv::embed {

OwnHands::OwnHands(ProgramTurns& turns)
    : Hands(turns), thread_(quiet_thread("arithmetic", [this] { work(); })) {}

OwnHands::~OwnHands() {
  lent_->end();
  turns_.close();
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void OwnHands::work() {
  for (;;) {
    const Turn turn = lent_->lend(std::chrono::seconds(1));
    std::unique_lock lock(mutex_);
    if (turn == Turn::over) {
      over_ = true;
      return changed_.notify_all();
    }
    changed_.notify_all();
    changed_.wait(lock, [this] { return turns_.at_hand() == Turn::none; });
  }
}

Turn OwnHands::wait(std::chrono::nanoseconds at_most) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, at_most, [this] { return over_ || turns_.at_hand() != Turn::none; });
  return over_ ? Turn::over : turns_.give();
}

void OwnHands::done(const Told& told) {
  const std::lock_guard lock(mutex_);
  turns_.end_given(told);
  changed_.notify_all();
}

void OwnHands::close() {
  const std::lock_guard lock(mutex_);
  turns_.close();
  changed_.notify_all();
}

}  // namespace gv::embed
