#include "peer/launch/process/stop_signals.h"

#include <cstdlib>
#include <stdexcept>

#include <sys/signalfd.h>
#include <unistd.h>

namespace gv {
namespace {

constexpr auto one_cause = std::chrono::seconds(1);

Descriptor blocked() {
  const sigset_t ends = stop_signals();
  ::pthread_sigmask(SIG_BLOCK, &ends, nullptr);
  const int fd = ::signalfd(-1, &ends, SFD_CLOEXEC | SFD_NONBLOCK);
  if (fd < 0) throw std::runtime_error("cannot watch for signals");
  return Descriptor(fd);
}

}  // namespace

sigset_t stop_signals() {
  sigset_t ends;
  sigemptyset(&ends);
  for (const int signal : {SIGINT, SIGTERM, SIGUSR1, SIGUSR2, SIGXCPU, SIGALRM})
    sigaddset(&ends, signal);
  struct sigaction hangup {};
  ::sigaction(SIGHUP, nullptr, &hangup);
  if (hangup.sa_handler != SIG_IGN) sigaddset(&ends, SIGHUP);
  return ends;
}

void handle_stop_signals(void (*handler)(int signal)) {
  const sigset_t ends = stop_signals();
  for (int signal = 1; signal < NSIG; ++signal)
    if (sigismember(&ends, signal) == 1) std::signal(signal, handler);
}

int exit_code_of(int stop_signal) {
  return 128 + stop_signal;
}

StopSignals::StopSignals() : fd_(blocked()) {}

StopSignals::Wish StopSignals::take() {
  Wish wish = Wish::none;
  signalfd_siginfo info{};
  while (::read(fd_.get(), &info, sizeof info) == sizeof info) {
    const auto now = std::chrono::steady_clock::now();
    if (code_ == 0) {
      code_ = exit_code_of(static_cast<int>(info.ssi_signo));
      first_ = now;
      wish = Wish::stop;
    } else if (now - first_ > one_cause && info.ssi_signo != SIGXCPU) {  // sent every second
      wish = Wish::stop_at_once;
    }
  }
  return wish;
}

InterruptWatch::InterruptWatch()
    : watch_(signals_.fd(), [this](WatchThread&) {
        const StopSignals::Wish wish = signals_.take();
        code_ = signals_.code();
        if (wish == StopSignals::Wish::stop_at_once) std::_Exit(signals_.code());
        return true;
      }) {}

}  // namespace gv
