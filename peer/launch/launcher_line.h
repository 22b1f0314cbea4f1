#pragma once

#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "peer/launch/control.h"
#include "peer/runtime/tcp_peer.h"

namespace gv {

/// The peer's side of what a peer that was launched and its launcher say to each other
/// (control.h).
class LauncherLine {
 public:
  struct Descriptors {
    int ear = 0;    ///< hears the launcher; its end means that the launcher has gone
    int mouth = 1;  ///< says what the peer has to say
    int vectors = 3;
  };
  explicit LauncherLine(Descriptors descriptors) : descriptors_(descriptors) {}

  /// One whole line; from any thread. A launcher that has gone is no error.
  void say(const std::string& line);
  /// Reports go to the launcher, and what else it wants to know.
  void tell_all(TcpPeerOptions& options);
  /// Waits for the launcher's first words, keys first if there are any. Nothing when it has gone,
  /// or says that all is over, before it has said them, or where `wait`, which is called before
  /// each reading, gives up. Empty: it never does.
  std::optional<std::vector<PeerAddress>> hear_addresses(TcpPeer& peer,
                                                         const std::function<bool()>& wait = {});
  /// Heeds what comes after them, once there is something to read. False: it has gone.
  bool hear(TcpPeer& peer);

 private:
  bool read_more();
  std::optional<std::string> take_line();
  std::optional<control::LauncherSays> hear_line(const std::function<bool()>& wait);
  void heed_lines(TcpPeer& peer);
  void heed(const control::LauncherSays& says, TcpPeer& peer);

  const Descriptors descriptors_;
  std::mutex mutex_;  ///< of the mouth
  std::string heard_;
};

}  // namespace gv
