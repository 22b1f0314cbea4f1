#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <poll.h>
#include <sys/types.h>

#include "optim/buffer.h"

namespace gv {

/// A peer's process as its launcher sees it, on whatever machine it runs (control.h has what both
/// say to each other).
class Process {
 public:
  virtual ~Process() = default;
  virtual pid_t pid() const = 0;  ///< on its machine; 0: not known yet
  /// One line to its stdin; the loss of a process that has gone shows at its end.
  virtual void tell(const std::string& line) = 0;
  virtual void kill(int signal) = 0;
  /// The whole lines of its stdout and its stderr that have come since the last call.
  virtual std::vector<std::string> take_output() = 0;
  virtual std::vector<std::string> take_errors() = 0;
  /// Returns the next vector of its reports, in the order of sending. Returns null if there is
  /// none of at most `most_bytes` bytes.
  virtual Payload take_vector(std::size_t most_bytes) = 0;
  /// Takes its end; true at the first call after it.
  virtual bool reap() = 0;
  virtual bool running() const = 0;
  virtual std::string ending() const = 0;  ///< "exit 70", "killed by signal 9"
  /// Adds what is readable when there is something of it to take.
  virtual void add_to(std::vector<pollfd>& fds) const = 0;
};

}  // namespace gv
