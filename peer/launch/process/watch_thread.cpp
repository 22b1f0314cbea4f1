#include "peer/launch/process/watch_thread.h"

#include <array>
#include <stdexcept>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

namespace gv {

WatchThread::WatchThread(int fd, std::function<bool(WatchThread&)> on_readable)
    : on_readable_(std::move(on_readable)) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw std::runtime_error("cannot make a pipe");
  wake_read_ = Descriptor(ends[0]);
  wake_write_ = Descriptor(ends[1]);
  thread_ = std::thread([this, fd] { watch(fd); });
}

/// Wakes the thread with a byte, because a forked child may hold the pipe open.
WatchThread::~WatchThread() {
  const char over = 0;
  if (::write(wake_write_.get(), &over, sizeof over) != sizeof over) wake_write_.close();
  thread_.join();
}

bool WatchThread::pause(int milliseconds) const {
  pollfd wake{wake_read_.get(), POLLIN, 0};
  return ::poll(&wake, 1, milliseconds) == 0;
}

void WatchThread::watch(int fd) {
  for (;;) {
    std::array<pollfd, 2> fds{{{fd, POLLIN, 0}, {wake_read_.get(), POLLIN, 0}}};
    if (::poll(fds.data(), fds.size(), -1) < 0) continue;
    if (fds[1].revents != 0) return;
    if (fds[0].revents != 0 && !on_readable_(*this)) return;
  }
}

}  // namespace gv
