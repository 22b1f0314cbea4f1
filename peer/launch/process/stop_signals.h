#pragma once

#include <atomic>
#include <chrono>
#include <csignal>
#include <optional>

#include "peer/launch/process/watch_thread.h"
#include "peer/wire/socket/descriptor.h"

namespace gv {

/// Returns the signals that ask a program to end: SIGINT, SIGTERM, SIGHUP unless it is ignored
/// (nohup), and those by which batch systems, `ulimit -t` and an inherited alarm announce the end:
/// SIGUSR1, SIGUSR2, SIGXCPU, SIGALRM.
sigset_t stop_signals();

/// Calls `handler` for each stop signal.
void handle_stop_signals(void (*handler)(int signal));

/// Returns the exit code after such a signal: 128 plus its number, as in shells.
int exit_code_of(int stop_signal);

/// Stop signals of this process as a descriptor. One cause often sends several at once: GNU timeout
/// signals its child and then the group of both, a closed terminal brings SIGHUP and SIGTERM. So
/// all that come within a second of the first count as one; a later one asks to stop at once.
class StopSignals {
 public:
  /// Blocks the signals. Construct it before other threads, which inherit that. Throws
  /// std::runtime_error.
  StopSignals();

  enum class Wish { none, stop, stop_at_once };
  /// Takes the signals that have come. Never blocks.
  Wish take();
  int fd() const { return fd_.get(); }  ///< readable when there is a signal to take
  int code() const { return code_; }    ///< exit code of the first signal; 0 if none has come

 private:
  Descriptor fd_;
  int code_ = 0;
  std::chrono::steady_clock::time_point first_{};
};

/// Stop signals for a program that computes and polls code(); the second one ends the process at
/// once. No handler runs on a computing thread: oneDNN's products move the stack pointer, and the
/// kernel would write a handler's frame into their data.
class InterruptWatch {
 public:
  /// Construct it before other threads, so that they block the signals too.
  InterruptWatch();
  ~InterruptWatch() = default;
  InterruptWatch(const InterruptWatch&) = delete;
  InterruptWatch& operator=(const InterruptWatch&) = delete;

  /// Returns the exit code of the signal, or 0 if none has come.
  int code() const { return code_; }

 private:
  std::atomic<int> code_ = 0;
  StopSignals signals_;
  WatchThread watch_;  ///< last: it uses the others
};

}  // namespace gv
