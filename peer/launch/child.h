#pragma once

#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

#include "peer/shared/descriptor.h"

namespace gv {

/// Whole lines out of a descriptor that never blocks.
class LineReader {
 public:
  explicit LineReader(Descriptor fd) : fd_(std::move(fd)) {}
  /// The lines that are there now, without their ends; at the end of the stream also the last,
  /// unfinished one.
  std::vector<std::string> read();
  int fd() const { return fd_.get(); }
  bool ended() const { return !fd_.open(); }

 private:
  Descriptor fd_;
  std::string rest_;
};

/// A child process in a process group of its own, killed by the kernel when we die.
class Child {
 public:
  /// Starts argv[0]. Throws std::runtime_error with the path and the reason when it cannot.
  explicit Child(const std::vector<std::string>& argv);
  /// Kills what still runs and waits for it.
  ~Child();
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  pid_t pid() const { return pid_; }
  int pidfd() const { return pidfd_.get(); }  ///< readable when the process has ended
  LineReader& output() { return output_; }
  LineReader& errors() { return errors_; }
  int vectors() const { return vectors_.get(); }  ///< our end of its vector channel
  /// One line to its stdin; the loss of a child that has gone shows at its end.
  void tell(const std::string& line);
  void kill(int signal);
  /// Takes the exit status; the first call after the end.
  bool reap();
  bool running() const { return !status_; }
  int status() const { return status_.value_or(0); }  ///< as of waitpid
  /// "exit 70", "killed by signal 9".
  std::string ending() const;

 private:
  pid_t pid_ = -1;
  Descriptor pidfd_;
  Descriptor input_;
  Descriptor vectors_;
  LineReader output_{Descriptor()};
  LineReader errors_{Descriptor()};
  std::optional<int> status_;
};

}  // namespace gv
