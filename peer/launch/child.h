#pragma once

#include <span>
#include <string>
#include <vector>

#include "peer/launch/process.h"
#include "peer/launch/spawned.h"

namespace gv {

/// Whole lines out of a descriptor that never blocks.
class LineReader {
 public:
  explicit LineReader(Descriptor fd) : fd_(std::move(fd)) {}
  /// The lines that are there now, without their ends; at the end of the stream also the last,
  /// unfinished one. None is longer than 64 MiB.
  std::vector<std::string> read();
  int fd() const { return fd_.get(); }
  bool ended() const { return !fd_.open(); }

 private:
  Descriptor fd_;
  std::string rest_;
};

/// A peer's process on this machine. Lines for it are queued while it does not read.
class Child : public Process {
 public:
  /// Throws std::runtime_error with the program's name and the reason when it cannot be started.
  explicit Child(const std::vector<std::string>& argv);

  pid_t pid() const override { return process_.pid(); }
  void tell(const std::string& line) override;
  void kill(int signal) override { process_.kill(signal); }
  std::vector<std::string> take_output() override {
    send_waiting();
    return output_.read();
  }
  std::vector<std::string> take_errors() override { return errors_.read(); }
  Payload take_vector(std::size_t most_bytes) override;
  bool reap() override;
  bool running() const override { return process_.running(); }
  std::string ending() const override { return process_.ending(); }
  void add_to(std::vector<pollfd>& fds) const override;

  /// Hands it a vector; false when it has gone, or there is no memory for it.
  bool give_vector(std::span<const float> values);

  int pidfd() const { return process_.pidfd(); }  ///< readable when the process has ended
  LineReader& output() { return output_; }
  LineReader& errors() { return errors_; }
  int vectors() const { return process_.vectors.get(); }  ///< our end of its vector channel
  int status() const { return process_.status(); }        ///< as of waitpid

 private:
  void send_waiting();

  Spawned process_;
  std::string waiting_;  ///< for its stdin
  LineReader output_{Descriptor()};
  LineReader errors_{Descriptor()};
};

}  // namespace gv
