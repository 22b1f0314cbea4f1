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
#include "peer/wire/lend/descriptor.h"
#include "peer/wire/tcp/tcp_world.h"

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

using OnLine = std::function<void(const std::string&)>;

/// Keeps the last line that a process logged, unless that only explains the line before: the last
/// words of a process are its error, not the help that follows an error.
void keep_last_words(std::string& words, const std::string& line);

/// Takes all whole lines that a process has said since the last call. Returns whether it has ended
/// since then. Its end is taken first: what it said before that is still there, and no word is
/// lost.
bool hear(Process& process, const OnLine& on_output, const OnLine& on_error);

/// Hears a program that runs to its end, each line as it comes, and returns after the last.
void hear_out(Process& process, const OnLine& on_output, const OnLine& on_error);

/// The places where the peers of a run are started, and how they find each other.
class Places {
 public:
  virtual ~Places() = default;
  /// Starts peer `id`, which finds its folder there. `past`: what it goes on from, as options of
  /// the program. Throws std::runtime_error.
  virtual std::unique_ptr<Process> start(PeerId id, const std::vector<std::string>& past) = 0;
  /// Returns where `other`, which listens at `port`, is to be found by `by`.
  virtual PeerAddress road(PeerId by, PeerId other, std::uint16_t port) const = 0;
  /// Adds what is readable when there is something to do beside what the processes have.
  virtual void add_to(std::vector<pollfd>& fds) const = 0;
  virtual void work() = 0;                            ///< does it; about ten times a second
  virtual std::vector<std::string> take_notes() = 0;  ///< what a person should know
};

/// All of them on this machine, as our children.
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

  /// Our ends of its stdin, stdout and stderr and of its vector channel (launcher_line.h): whoever
  /// uses one takes it away.
  Descriptor input, output, errors, vectors;

 private:
  pid_t pid_ = -1;
  Descriptor pidfd_;
  std::optional<int> status_;
};

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

/// The files that a process which starts peers needs for each: its three streams, its vectors, its
/// end and its log. The second is for all else, those that come and go at once included.
inline constexpr std::uint64_t files_per_child = 6;
inline constexpr std::uint64_t files_besides = 64;
/// The files of a peer for each neighbour: the connection, and the socket that shares memory.
inline constexpr std::uint64_t files_per_neighbor = 2;

/// Makes sure that this process, and those that it starts, may each have so many files, sockets and
/// pipes open: within what the system allows it raises the limit. Throws std::runtime_error with
/// both numbers where that is too little: otherwise a run would fail somewhere on its way.
void need_open_files(std::uint64_t count);

/// Resets what a process inherits from its parent: closed standard descriptors become /dev/null, no
/// signal stays blocked, SIGCHLD and SIGPIPE have their default action, and new files are not
/// world-writable. SIGHUP stays ignored if it was (nohup). Call it before any thread starts, and
/// between fork and exec.
void reset_inherited();

}  // namespace gv
