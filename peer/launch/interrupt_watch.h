#pragma once

#include <atomic>

#include "peer/launch/stop_signals.h"
#include "peer/launch/watch_thread.h"

namespace gv {

/// The stop signals, as a question that a program which computes asks now and then; the second of
/// them ends the process at once. No handler runs on a thread that computes: the products of oneDNN
/// move the stack pointer, and what the kernel writes for a handler would land in their data.
class InterruptWatch {
 public:
  /// Has to come before other threads are started: they block the signals as this one does.
  InterruptWatch();
  ~InterruptWatch() = default;
  InterruptWatch(const InterruptWatch&) = delete;
  InterruptWatch& operator=(const InterruptWatch&) = delete;

  /// The exit code of the signal once there was one; else 0.
  int code() const { return code_; }

 private:
  std::atomic<int> code_ = 0;
  StopSignals signals_;
  WatchThread watch_;  ///< last: it uses the others
};

}  // namespace gv
