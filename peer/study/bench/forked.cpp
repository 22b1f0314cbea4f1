#include "peer/study/bench/forked.h"

#include <csignal>
#include <cstdio>
#include <ctime>
#include <exception>
#include <new>
#include <stdexcept>

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace gv {
namespace {

class SharedGathering {
 public:
  SharedGathering()
      : memory_(::mmap(nullptr,
                       sizeof(Gathering),
                       PROT_READ | PROT_WRITE,
                       MAP_SHARED | MAP_ANONYMOUS,
                       -1,
                       0)) {
    if (memory_ == MAP_FAILED) throw std::runtime_error("cannot share memory");
    new (memory_) Gathering;
  }
  ~SharedGathering() { ::munmap(memory_, sizeof(Gathering)); }
  SharedGathering(const SharedGathering&) = delete;
  SharedGathering& operator=(const SharedGathering&) = delete;
  Gathering& operator*() { return *static_cast<Gathering*>(memory_); }

 private:
  void* memory_;
};

double seconds_on(clockid_t clock) {
  timespec time{};
  ::clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

int guarded(const std::function<void()>& body) {
  try {
    body();
    return 0;
  } catch (const std::exception& e) {
    fmt::print(stderr, "error: {}\n", e.what());
    return 1;
  }
}

}  // namespace

void Stopwatches::start() {
  began_ = seconds_on(CLOCK_MONOTONIC);
  cpu_began_ = seconds_on(CLOCK_PROCESS_CPUTIME_ID);
}

void Stopwatches::stop(int rounds) {
  gathering_.seconds[rank_] = (seconds_on(CLOCK_MONOTONIC) - began_) / rounds;
  gathering_.cpu_seconds[rank_] = (seconds_on(CLOCK_PROCESS_CPUTIME_ID) - cpu_began_) / rounds;
}

std::vector<std::uint16_t> Gathering::exchange_ports(std::uint32_t rank, std::uint16_t port) {
  ports[rank] = port;
  ++listening;
  while (listening < processes) ::usleep(200);
  return {ports, ports + processes};
}

Measured run_forked(std::uint32_t n, const std::function<void(std::uint32_t, Gathering&)>& body) {
  if (n > Gathering::most) throw std::invalid_argument("too many processes");
  SharedGathering shared;
  (*shared).processes = n;
  std::fflush(nullptr);
  std::vector<pid_t> pids;
  for (std::uint32_t rank = 0; rank < n; ++rank) {
    const pid_t pid = ::fork();
    if (pid == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      ::_exit(guarded([&] { body(rank, *shared); }));
    }
    if (pid > 0) pids.push_back(pid);
  }
  bool fine = pids.size() == n;
  for (std::size_t left = pids.size(); left > 0; --left) {
    int status = 0;
    ::wait(&status);
    const bool ended_well = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    if (fine && !ended_well)
      for (const pid_t pid : pids) ::kill(pid, SIGKILL);
    fine = fine && ended_well;
  }
  if (!fine) throw std::runtime_error("a measuring process failed");
  const Gathering& result = *shared;
  return {{result.seconds, result.seconds + n}, {result.cpu_seconds, result.cpu_seconds + n}};
}

}  // namespace gv
