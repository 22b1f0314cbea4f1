#pragma once

#include <functional>
#include <thread>

#include "peer/wire/socket/descriptor.h"

namespace gv {

/// Watches a descriptor in a thread besides the peer's loop: stdin of a launched peer, or the
/// signals of one started by hand.
class WatchThread {
 public:
  /// Calls `on_readable` whenever the descriptor is readable; the watch ends when it returns
  /// false. It may use pause().
  WatchThread(int fd, std::function<bool(WatchThread&)> on_readable);
  ~WatchThread();
  WatchThread(const WatchThread&) = delete;
  WatchThread& operator=(const WatchThread&) = delete;

  /// Waits. Returns false if the watch is ended before the time is over.
  bool pause(int milliseconds) const;

 private:
  void watch(int fd);

  Descriptor wake_read_, wake_write_;
  std::function<bool(WatchThread&)> on_readable_;
  std::thread thread_;
};

}  // namespace gv
