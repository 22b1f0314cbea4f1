#include "peer/cli/embed/quiet_thread.h"

#include <csignal>
#include <utility>

#include <pthread.h>

namespace gv::embed {

/// A thread begins with the mask of the one that starts it, and so do those that it starts.
std::thread quiet_thread(const char* name, std::function<void()> work) {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  const auto restore = [&] { ::pthread_sigmask(SIG_SETMASK, &before, nullptr); };
  try {
    std::thread thread([name, work = std::move(work)] {
      ::pthread_setname_np(::pthread_self(), name);
      work();
    });
    restore();
    return thread;
  } catch (...) {
    restore();
    throw;
  }
}

}  // namespace gv::embed
