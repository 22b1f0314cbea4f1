#pragma once

#include <exception>
#include <functional>
#include <utility>

#include "gossip/awaits.h"
#include "gossip/task.h"

namespace gv {

/// A coroutine that runs beside the algorithm's own, on the same loop: the papers' other thread. It
/// ends by itself; whoever made it awaits that, so that nothing of it is under way afterwards.
class Beside {
 public:
  Beside(World& world, Task<> work) : world_(world), task_(run(std::move(work))) { task_.start(); }
  Beside(const Beside&) = delete;
  Beside& operator=(const Beside&) = delete;

  /// Waits until it has ended. Throws what it threw.
  Task<> join() {
    if (!ended_) {
      Suspend suspend{when_ended_};
      co_await suspend;
    }
    if (error_) std::rethrow_exception(error_);
  }

 private:
  Task<> run(Task<> work) {
    try {
      co_await work;
    } catch (...) {
      error_ = std::current_exception();
    }
    ended_ = true;
    // Later: who is resumed may destroy this frame, which is still running.
    if (when_ended_) world_.after(Time{0}, std::exchange(when_ended_, {}));
  }

  World& world_;
  bool ended_ = false;
  std::exception_ptr error_;
  std::function<void()> when_ended_;
  Task<> task_;  ///< last: it uses the others
};

}  // namespace gv
