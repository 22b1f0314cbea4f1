#pragma once

#include <atomic>
#include <chrono>
#include <csignal>
#include <optional>

#include "peer/launch/watch_thread.h"
#include "peer/wire/lend/descriptor.h"

namespace gv {

/// SIGINT, SIGTERM and SIGHUP, which ask a program to end; without SIGHUP if it is ignored
/// (nohup).
sigset_t stop_signals();

/// Returns the exit code after such a signal: 128 plus its number, as in shells.
int exit_code_of(int stop_signal);

/// The stop signals of this process as a descriptor. One cause often sends several of them at once:
/// GNU timeout signals its child and then the group of both, a closed terminal brings SIGHUP and
/// SIGTERM. So all that come within a second of the first count as one; a later one asks to stop at
/// once.
class StopSignals {
 public:
  /// Blocks them. To be made before there are other threads, which inherit that. Throws
  /// std::runtime_error.
  StopSignals();

  enum class Wish { none, stop, stop_at_once };
  /// Takes the signals that have come. Never blocks.
  Wish take();
  int fd() const { return fd_.get(); }  ///< readable when there is one to take
  int code() const { return code_; }    ///< exit code of the first; 0: none has come

 private:
  Descriptor fd_;
  int code_ = 0;
  std::chrono::steady_clock::time_point first_{};
};

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
