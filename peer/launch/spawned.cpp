#include "peer/launch/spawned.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <stdexcept>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "peer/launch/inherited.h"
#include "peer/launch/vector_channel.h"

namespace gv {
namespace {

/// Neither an exit nor a signal, as the macros of waitpid have it.
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
  constexpr int beyond = 10;  // above the descriptors that the child is to find
  vectors = ::fcntl(vectors, F_DUPFD_CLOEXEC, beyond);
  failure = ::fcntl(failure, F_DUPFD_CLOEXEC, beyond);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(1);  // it died before the line above
  ::setpgid(0, 0);
  reset_inherited();
  ::dup2(in, STDIN_FILENO);
  ::dup2(out, STDOUT_FILENO);
  ::dup2(err, STDERR_FILENO);
  ::dup2(vectors, vector_descriptor);
  // What else is open here, such as metrics.jsonl, is none of its business. Linux before 5.11
  // cannot.
  ::close_range(vector_descriptor + 1, ~0U, CLOSE_RANGE_CLOEXEC);
  ::execvp(argv[0], argv);
  const int error = errno;
  const ssize_t written = ::write(failure, &error, sizeof error);
  ::_exit(written == sizeof error ? 127 : 126);
}

}  // namespace

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
    become(words.data(),
           parent,
           in.read.get(),
           out.write.get(),
           err.write.get(),
           vectors_pair.write.get(),
           failure.write.get());
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

/// Its number names no other group before waitpid. Where we ignore SIGCHLD, or others wait for it,
/// its status is lost.
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

}  // namespace gv
