#pragma once

#include <functional>
#include <map>
#include <stdexcept>
#include <string>

#include "peer/launch/agent/agent_frame.h"

namespace gv {

// Files travel between a launcher and its agents as pieces: the name, relative to the run's folder
// at either end, a zero, one byte that is 1 at the first piece and 2 at the last (3: both), and
// bytes.

/// Hands every regular file below folder/name, or that file itself, to `send` as frames; links are
/// left out. `name` "": all. Throws std::runtime_error with the path when one cannot be read.
void send_files(const std::string& folder,
                const std::string& name,
                const std::function<void(AgentFrame)>& send);

/// A file of that name and text, as frames.
void send_text(const std::string& name,
               const std::string& text,
               const std::function<void(AgentFrame)>& send);

/// The disk does not take it, whoever sent it.
struct DiskError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Writes what comes below a folder. A name that leads out of it, or a path through a link, is
/// refused.
class FileTaker {
 public:
  /// `allowed`: whether a file of this name may come; `most_bytes`: of all of them.
  FileTaker(std::string folder,
            std::function<bool(const std::string& name)> allowed,
            std::uint64_t most_bytes)
      : folder_(std::move(folder)), allowed_(std::move(allowed)), left_(most_bytes) {}

  /// Throws std::runtime_error with the name and what is wrong with it, and DiskError.
  void take(const std::string& piece);

 private:
  std::string folder_;
  std::function<bool(const std::string&)> allowed_;
  std::uint64_t left_;
};

/// Returns whether a name is one below a folder: not absolute, without "..", empty parts and zeros.
bool is_below(const std::string& name);

}  // namespace gv
