#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "peer/cli/embed/fault.h"
#include "peer/runtime/tcp_peer.h"

namespace gv::embed {

/// A peer whose loop has a thread of its own. What the loop owns is touched through with(), as it
/// ends with the loop.
class ProgramLife {
 public:
  /// `arithmetic` is ended with the loop.
  ProgramLife(std::unique_ptr<TcpPeer> peer, std::shared_ptr<Arithmetic> arithmetic);
  ~ProgramLife();
  ProgramLife(const ProgramLife&) = delete;
  ProgramLife& operator=(const ProgramLife&) = delete;

  /// The places where all peers are to be found; nothing: there will be no training.
  using Addresses = std::optional<std::vector<PeerAddress>>;
  /// Trains from now on. `meet` is called on the loop's thread before the loop begins.
  void begin(std::function<Addresses(TcpPeer&)> meet);
  bool has_begun() const { return loop_.joinable(); }
  /// Calls f(peer) if it is still there.
  template <class F>
  void with(F f) {
    const std::lock_guard lock(mutex_);
    if (peer_) f(*peer_);
  }
  /// Ends as a process that dies does.
  void die();
  /// Returns whether the loop has ended, or ends within that time.
  bool over(std::chrono::nanoseconds at_most);
  /// The rounds that were done when the loop ended.
  Round rounds();
  /// Says what ended it, unless it ended in order.
  std::optional<Fault> failure();
  /// The first one counts.
  void fail(Fault fault);

  /// The loop stands still, and nothing of it is at work, until go_on(). What a child of this
  /// process is to close.
  std::vector<int> pause();
  void go_on();

 private:
  void live(const std::function<Addresses(TcpPeer&)>& meet);
  void stand_still();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::unique_ptr<TcpPeer> peer_;
  std::shared_ptr<Arithmetic> arithmetic_;
  std::optional<Fault> failure_;
  bool over_ = false;
  Round rounds_ = 0;
  bool pausing_ = false;
  bool stands_ = false;
  std::vector<int> descriptors_;
  std::thread loop_;
};

}  // namespace gv::embed
