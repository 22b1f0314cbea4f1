#include "peer/launch/interrupt_watch.h"

#include <csignal>
#include <cstdlib>
#include <stdexcept>

#include <sys/signalfd.h>
#include <unistd.h>

#include "peer/runtime/exit_code.h"

namespace gv {
namespace {

Descriptor blocked_signals() {
  sigset_t ends;
  sigemptyset(&ends);
  sigaddset(&ends, SIGINT);
  sigaddset(&ends, SIGTERM);
  ::pthread_sigmask(SIG_BLOCK, &ends, nullptr);
  const int fd = ::signalfd(-1, &ends, SFD_CLOEXEC);
  if (fd < 0) throw std::runtime_error("cannot watch for signals");
  return Descriptor(fd);
}

}  // namespace

InterruptWatch::InterruptWatch()
    : signals_(blocked_signals()),
      watch_(signals_.get(), [this](WatchThread&) { return hear(); }) {}

bool InterruptWatch::hear() {
  signalfd_siginfo info{};
  if (::read(signals_.get(), &info, sizeof info) != sizeof info) return true;
  const int code = info.ssi_signo == SIGINT ? exit_code::interrupted : exit_code::terminated;
  if (code_.exchange(code) != 0) std::_Exit(code);
  return true;
}

}  // namespace gv
