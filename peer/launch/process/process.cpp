#include "peer/launch/process/process.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <initializer_list>
#include <stdexcept>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "peer/launch/process/launcher_line.h"
#include "peer/wire/seal/peer_keys.h"
#include "peer/wire/socket/named_socket.h"

namespace gv {
namespace {

/// Status that is neither an exit nor a signal to the macros of waitpid.
constexpr int unknown_status = -1;

struct Pipe {
  Descriptor read, write;
};

Pipe make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0)
    throw std::runtime_error(fmt::format("cannot make a pipe: {}", std::strerror(errno)));
  return {Descriptor(ends[0]), Descriptor(ends[1])};
}

Pipe make_socket_pair() {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0)
    throw std::runtime_error(fmt::format("cannot make a socket: {}", std::strerror(errno)));
  return {Descriptor(ends[0]), Descriptor(ends[1])};
}

/// Runs in the child, where nothing may allocate. Reports a failed exec through `failure`.
[[noreturn]] void become(
    char* const* argv, pid_t parent, int in, int out, int err, int vectors, int failure) {
  constexpr int beyond = 10;  // above the child's own descriptors
  vectors = ::fcntl(vectors, F_DUPFD_CLOEXEC, beyond);
  failure = ::fcntl(failure, F_DUPFD_CLOEXEC, beyond);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(1);  // the parent died before the line above
  ::setpgid(0, 0);
  reset_inherited();
  ::dup2(in, STDIN_FILENO);
  ::dup2(out, STDOUT_FILENO);
  ::dup2(err, STDERR_FILENO);
  ::dup2(vectors, vector_descriptor);
  // Other open files, such as metrics.jsonl, are closed by exec. Linux before 5.11 cannot do this.
  ::close_range(vector_descriptor + 1, ~0U, CLOSE_RANGE_CLOEXEC);
  ::execvp(argv[0], argv);
  const int error = errno;
  const ssize_t written = ::write(failure, &error, sizeof error);
  ::_exit(written == sizeof error ? 127 : 126);
}

/// Maximum number of bytes that wait for an end of line; more are taken as a line without one.
constexpr std::size_t longest_line = std::size_t{64} << 20;
/// Maximum number of bytes queued for a process that does not read; further lines are dropped.
constexpr std::size_t most_waiting = std::size_t{4} << 20;

/// Opens closed standard descriptors, because the next opened file would become the standard
/// output. open() returns the lowest descriptor that is free, so the order matters.
void open_standard_descriptors() {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (::fcntl(fd, F_GETFD) < 0) ::open("/dev/null", O_RDWR);
}

}  // namespace

void keep_last_words(std::string& words, const std::string& line) {
  const std::size_t number = line.find_first_not_of("0123456789");
  const bool explains = line.empty() || line.starts_with("help:") || line.starts_with(" ") ||
                        (number > 0 && line.find(" error") == number);
  if (!explains || words.empty()) words = line;
}

bool hear(Process& process, const OnLine& on_output, const OnLine& on_error) {
  const bool ended = process.reap();
  for (const std::string& line : process.take_errors()) on_error(line);
  for (const std::string& line : process.take_output()) on_output(line);
  return ended;
}

void hear_out(Process& process, const OnLine& on_output, const OnLine& on_error) {
  while (process.running()) {
    std::vector<pollfd> fds;
    process.add_to(fds);
    ::poll(fds.data(), fds.size(), -1);
    hear(process, on_output, on_error);
  }
}

std::unique_ptr<Process> ThisMachine::start(PeerId id, const std::vector<std::string>& past) {
  std::vector<std::string> argv{program_,
                                "peer",
                                fleet_,
                                "--id",
                                std::to_string(id),
                                "--launched",
                                fmt::format("{}/peers/{:03}", folder_, id)};
  for (const std::string& set : sets_) argv.insert(argv.end(), {"--set", set});
  argv.insert(argv.end(), more_.begin(), more_.end());
  argv.insert(argv.end(), past.begin(), past.end());
  return std::make_unique<Child>(argv);
}

PeerAddress ThisMachine::road(PeerId, PeerId other, std::uint16_t port) const {
  return {.peer = other, .host = loopback_host(), .port = port};
}

Spawned::Spawned(const std::vector<std::string>& argv) {
  std::vector<char*> words;
  for (const std::string& word : argv) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  Pipe in = make_pipe();
  Pipe out = make_pipe();
  Pipe err = make_pipe();
  Pipe vectors_pair = make_socket_pair();
  Pipe failure = make_pipe();
  const pid_t parent = ::getpid();
  pid_ = ::fork();
  if (pid_ < 0)
    throw std::runtime_error(fmt::format("cannot start a process: {}", std::strerror(errno)));
  if (pid_ == 0) {
    become(words.data(), parent, in.read.get(), out.write.get(), err.write.get(),
           vectors_pair.write.get(), failure.write.get());
  }
  failure.write.close();
  int error = 0;
  if (::read(failure.read.get(), &error, sizeof error) == sizeof error) {
    ::waitpid(pid_, nullptr, 0);
    throw std::runtime_error(fmt::format("cannot start {}: {}", argv[0], std::strerror(error)));
  }
  pidfd_ = Descriptor(static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0)));
  input = std::move(in.write);
  output = std::move(out.read);
  errors = std::move(err.read);
  vectors = std::move(vectors_pair.read);
}

Spawned::~Spawned() {
  if (!running()) return;
  kill(SIGKILL);
  siginfo_t ignored{};
  ::waitid(P_PID, static_cast<id_t>(pid_), &ignored, WEXITED | WNOWAIT);
  reap();
}

void Spawned::kill(int signal) {
  if (running()) ::kill(pid_, signal);
}

/// Kills the process group before waitpid(), since its number may name another group afterwards.
/// The status is lost if SIGCHLD is ignored, or if others wait for the process.
bool Spawned::reap() {
  if (!running()) return false;
  siginfo_t ended{};
  const int found = ::waitid(P_PID, static_cast<id_t>(pid_), &ended, WEXITED | WNOHANG | WNOWAIT);
  const bool lost = found != 0 && errno == ECHILD;
  if (!lost && (found != 0 || ended.si_pid != pid_)) return false;
  if (!lost) ::kill(-pid_, SIGKILL);
  int status = unknown_status;
  if (!lost) ::waitpid(pid_, &status, 0);
  status_ = status;
  return true;
}

std::string Spawned::ending() const {
  if (status() == unknown_status) return "ended, and its exit status is unknown";
  if (WIFSIGNALED(status())) return fmt::format("killed by signal {}", WTERMSIG(status()));
  return fmt::format("exit {}", WEXITSTATUS(status()));
}

std::vector<std::string> LineReader::read() {
  std::array<char, 16384> buffer;
  while (fd_.open() && rest_.size() <= longest_line) {
    const ssize_t count = ::read(fd_.get(), buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno == EAGAIN) break;
    if (count <= 0) {
      fd_.close();
      if (!rest_.empty() && rest_.back() != '\n') rest_ += '\n';
      break;
    }
    rest_.append(buffer.data(), static_cast<std::size_t>(count));
  }
  std::vector<std::string> lines;
  std::size_t begin = 0;
  for (std::size_t end = rest_.find('\n'); end != std::string::npos;
       end = rest_.find('\n', begin)) {
    lines.push_back(rest_.substr(begin, end - begin));
    begin = end + 1;
  }
  rest_.erase(0, begin);
  if (rest_.size() > longest_line) lines.emplace_back().swap(rest_);
  return lines;
}

Child::Child(const std::vector<std::string>& argv) : process_(argv) {
  never_block(process_.input.get());
  never_block(process_.output.get());
  never_block(process_.errors.get());
  output_ = LineReader(std::move(process_.output));
  errors_ = LineReader(std::move(process_.errors));
}

void Child::tell(const std::string& line) {
  if (waiting_.size() + line.size() > most_waiting) return;
  waiting_ += line;
  waiting_ += '\n';
  send_waiting();
}

/// Wipes what was sent, because there may be a key in it.
void Child::send_waiting() {
  while (!waiting_.empty() && process_.input.open()) {
    const ssize_t count = ::write(process_.input.get(), waiting_.data(), waiting_.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno == EAGAIN) return;
    if (count <= 0) process_.input.close();
    std::string rest = waiting_.substr(static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
    wipe(waiting_);
    waiting_ = std::move(rest);
  }
}

bool Child::reap() {
  if (!process_.reap()) return false;
  process_.input.close();
  return true;
}

Payload Child::take_vector(std::size_t most_bytes) {
  return receive_vector(process_.vectors.get(), most_bytes);
}

bool Child::give_vector(std::span<const float> values) {
  try {
    send_vector(process_.vectors.get(), values);
    return true;
  } catch (const std::runtime_error&) {
    return false;
  }
}

void Child::add_to(std::vector<pollfd>& fds) const {
  if (!output_.ended()) fds.push_back({output_.fd(), POLLIN, 0});
  if (!errors_.ended()) fds.push_back({errors_.fd(), POLLIN, 0});
  if (!waiting_.empty() && process_.input.open()) fds.push_back({process_.input.get(), POLLOUT, 0});
  if (running()) fds.push_back({process_.pidfd(), POLLIN, 0});
}

void need_open_files(std::uint64_t count) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= count) return;
  const rlimit raised{.rlim_cur = count, .rlim_max = limit.rlim_max};
  if (count <= limit.rlim_max && ::setrlimit(RLIMIT_NOFILE, &raised) == 0) return;
  throw std::runtime_error(fmt::format(
      "a process of this fleet needs {} open files, and {} are allowed here\nhelp:  raise the "
      "limit (`ulimit -Hn`, LimitNOFILE of systemd), or put fewer peers on this machine",
      count, limit.rlim_max));
}

void reset_inherited() {
  open_standard_descriptors();
  // With SIGCHLD ignored, the kernel forgets how a child ended.
  for (const int signal : {SIGCHLD, SIGPIPE}) std::signal(signal, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::umask(::umask(S_IWOTH) | S_IWOTH);
}

}  // namespace gv
