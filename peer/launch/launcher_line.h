#pragma once

#include <cstddef>
#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "optim/buffer.h"
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

// The vectors of a peer's reports go to its launcher through memory, beside the JSON lines of
// control.h: a full disk costs no report. Each is a file in memory whose descriptor travels
// over a socket; or several, each with a byte that says how many follow, where a limit of the size
// of files (ulimit -f) is smaller.

/// The descriptor at which a launched peer finds its end of the socket.
inline constexpr int vector_descriptor = 3;

/// Hands the vector over. Throws std::runtime_error when there is no memory for it; a launcher that
/// has gone is no error.
void send_vector(int socket, std::span<const float> values);
/// Returns the next vector that was sent, in the order of sending. Returns null if there is none,
/// or if it has more than `most_bytes`, which is checked before any memory is taken for it.
Payload receive_vector(int socket, std::size_t most_bytes);

}  // namespace gv
