#pragma once

#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

#include "peer/wire/lend/descriptor.h"

namespace gv {

/// A child process in a process group of its own; the kernel kills it when this process dies. When
/// it exits, the rest of its process group is killed.
class Spawned {
 public:
  /// Starts argv[0], which is looked for in PATH. Throws std::runtime_error with its name and the
  /// reason when it cannot.
  explicit Spawned(const std::vector<std::string>& argv);
  /// Kills what still runs and waits for it.
  ~Spawned();
  Spawned(const Spawned&) = delete;
  Spawned& operator=(const Spawned&) = delete;

  pid_t pid() const { return pid_; }
  int pidfd() const { return pidfd_.get(); }  ///< readable when it has ended
  void kill(int signal);
  /// Takes the exit status; true at the first call after the end.
  bool reap();
  bool running() const { return !status_; }
  int status() const { return status_.value_or(0); }  ///< as of waitpid
  std::string ending() const;                         ///< "exit 70", "killed by signal 9"

  /// Our ends of its stdin, stdout and stderr and of its vector channel (vector_channel.h): whoever
  /// uses one takes it away.
  Descriptor input, output, errors, vectors;

 private:
  pid_t pid_ = -1;
  Descriptor pidfd_;
  std::optional<int> status_;
};

}  // namespace gv
