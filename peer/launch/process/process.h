#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <poll.h>
#include <sys/types.h>

#include "optim/buffer.h"
#include "peer/wire/socket/descriptor.h"
#include "peer/wire/tcp/tcp_world.h"

namespace gv {

/// A peer's process as its launcher sees it, on any machine (protocol: control.h).
class Process {
 public:
  virtual ~Process() = default;
  virtual pid_t pid() const = 0;  ///< on its machine; 0 if not known yet
  /// Sends one line to its stdin. No error if the process has gone, which its end will show.
  virtual void tell(const std::string& line) = 0;
  virtual void kill(int signal) = 0;
  /// Returns the whole lines of its stdout (or stderr) that have come since the last call.
  virtual std::vector<std::string> take_output() = 0;
  virtual std::vector<std::string> take_errors() = 0;
  /// Returns the next vector of its reports, in the order of sending. Returns null if there is
  /// none of at most `most_bytes` bytes.
  virtual Payload take_vector(std::size_t most_bytes) = 0;
  /// Takes its end. Returns true at the first call after it.
  virtual bool reap() = 0;
  virtual bool running() const = 0;
  virtual std::string ending() const = 0;  ///< "exit 70", "killed by signal 9"
  /// Adds the descriptors that are readable when the process has output.
  virtual void add_to(std::vector<pollfd>& fds) const = 0;
};

using OnLine = std::function<void(const std::string&)>;

/// Stores the last line that a process logged, unless it only explains the lines before: the last
/// words of a process are its error, not the help or the "2 errors in FILE" that follow an error.
void keep_last_words(std::string& words, const std::string& line);

/// Takes all whole lines since the last call. Returns whether the process has ended since then. The
/// end is checked before the lines are read, so that no line is lost.
bool hear(Process& process, const OnLine& on_output, const OnLine& on_error);

/// Passes on the lines of a program as they come, and returns when it has ended.
void hear_out(Process& process, const OnLine& on_output, const OnLine& on_error);

/// Places in which the peers of a run are started, and their addresses for each other.
class Places {
 public:
  virtual ~Places() = default;
  /// Starts peer `id`, with its folder. `past`: options of the program for the state that the peer
  /// resumes from. Throws std::runtime_error.
  virtual std::unique_ptr<Process> start(PeerId id, const std::vector<std::string>& past) = 0;
  /// Returns the address at which `by` reaches `other`, which listens at `port`.
  virtual PeerAddress road(PeerId by, PeerId other, std::uint16_t port) const = 0;
  /// Adds the descriptors that are readable when there is work() besides the processes' output.
  virtual void add_to(std::vector<pollfd>& fds) const = 0;
  virtual void work() = 0;                            ///< called about ten times a second
  virtual std::vector<std::string> take_notes() = 0;  ///< messages for the user
};

/// Starts peers on this machine, as child processes.
class ThisMachine : public Places {
 public:
  /// `more`: further options of each peer.
  ThisMachine(std::string program,
              std::string fleet,
              std::string folder,
              std::vector<std::string> sets,
              std::vector<std::string> more = {})
      : program_(std::move(program)),
        fleet_(std::move(fleet)),
        folder_(std::move(folder)),
        sets_(std::move(sets)),
        more_(std::move(more)) {}

  std::unique_ptr<Process> start(PeerId id, const std::vector<std::string>& past) override;
  PeerAddress road(PeerId by, PeerId other, std::uint16_t port) const override;
  void add_to(std::vector<pollfd>&) const override {}
  void work() override {}
  std::vector<std::string> take_notes() override { return {}; }

 private:
  std::string program_, fleet_, folder_;
  std::vector<std::string> sets_, more_;
};

/// A child process in a process group of its own; the kernel kills it when this process dies. When
/// it exits, the rest of its process group is killed.
class Spawned {
 public:
  /// Starts argv[0], found in PATH. Throws std::runtime_error with its name and the reason if it
  /// cannot.
  explicit Spawned(const std::vector<std::string>& argv);
  /// Kills the process if it still runs, and waits for it.
  ~Spawned();
  Spawned(const Spawned&) = delete;
  Spawned& operator=(const Spawned&) = delete;

  pid_t pid() const { return pid_; }
  int pidfd() const { return pidfd_.get(); }  ///< readable when it has ended
  void kill(int signal);
  /// Takes the exit status. Returns true at the first call after the end.
  bool reap();
  bool running() const { return !status_; }
  int status() const { return status_.value_or(0); }  ///< as of waitpid
  std::string ending() const;                         ///< "exit 70", "killed by signal 9"

  /// Our ends of its stdin, stdout and stderr and of its vector channel (launcher_line.h); the user
  /// moves out what it needs.
  Descriptor input, output, errors, vectors;

 private:
  pid_t pid_ = -1;
  Descriptor pidfd_;
  std::optional<int> status_;
};

/// Reads whole lines from a non-blocking descriptor.
class LineReader {
 public:
  explicit LineReader(Descriptor fd) : fd_(std::move(fd)) {}
  /// Returns the available lines, without their ends; at the end of the stream also the last,
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
  /// Throws std::runtime_error with the program's name and the reason if it cannot be started.
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

  /// Sends it a vector. Returns false if the process has gone or there is no memory.
  bool give_vector(std::span<const float> values);

  int pidfd() const { return process_.pidfd(); }  ///< readable when the process has ended
  LineReader& output() { return output_; }
  LineReader& errors() { return errors_; }
  int vectors() const { return process_.vectors.get(); }  ///< our end of its vector channel
  int status() const { return process_.status(); }        ///< as of waitpid

 private:
  void send_waiting();

  Spawned process_;
  std::string waiting_;  ///< queued for its stdin
  LineReader output_{Descriptor()};
  LineReader errors_{Descriptor()};
};

/// Open files that a process needs for each peer that it starts: three streams, the vectors, the
/// end and the log. `files_besides` is for all others, short-lived ones included.
inline constexpr std::uint64_t files_per_child = 6;
inline constexpr std::uint64_t files_besides = 64;
/// Open files of a peer for each neighbour: the connection, and the socket that shares memory.
inline constexpr std::uint64_t files_per_neighbor = 2;

/// Ensures that this process, and each one that it starts, may have `count` files, sockets and
/// pipes open; raises the limit within what the system allows. Throws std::runtime_error with both
/// numbers if that is too little, because the run would fail later.
void need_open_files(std::uint64_t count);

/// Resets what a process inherits from its parent: closed standard descriptors become /dev/null, no
/// signal stays blocked, SIGCHLD and SIGPIPE have their default action, and new files are not
/// world-writable. SIGHUP stays ignored if it was (nohup). Call it before any thread starts, and
/// between fork and exec.
void reset_inherited();

}  // namespace gv
