#pragma once

#include <atomic>

#include "peer/launch/watch_thread.h"
#include "peer/wire/lend/descriptor.h"

namespace gv {

/// Ctrl-C and SIGTERM, as a question that a program which computes asks now and then; the second of
/// them ends the process at once. No handler runs on a thread that computes: the products of oneDNN
/// move the stack pointer, and what the kernel writes for a handler would land in their data.
class InterruptWatch {
 public:
  /// Has to come before other threads are started: they block the signals as this one does.
  InterruptWatch();
  ~InterruptWatch() = default;
  InterruptWatch(const InterruptWatch&) = delete;
  InterruptWatch& operator=(const InterruptWatch&) = delete;

  /// exit_code::interrupted or terminated once there was one; else 0.
  int code() const { return code_; }

 private:
  bool hear();

  std::atomic<int> code_ = 0;
  Descriptor signals_;
  WatchThread watch_;  ///< last: it uses the others
};

}  // namespace gv
