#pragma once

#include <cstddef>
#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "optim/buffer.h"
#include "peer/launch/process/control.h"
#include "peer/runtime/tcp_peer.h"

namespace gv {

/// Peer's side of the protocol between a launched peer and its launcher (control.h).
class LauncherLine {
 public:
  struct Descriptors {
    int ear = 0;    ///< read from the launcher; its end means that the launcher has exited
    int mouth = 1;  ///< written to the launcher
    int vectors = 3;
  };
  explicit LauncherLine(Descriptors descriptors) : descriptors_(descriptors) {}

  /// Writes one whole line, from any thread. A launcher that has exited is no error.
  void say(const std::string& line);
  /// Sets `options` so that reports, and whatever else the launcher needs, go to the launcher.
  void tell_all(TcpPeerOptions& options);
  /// Waits for the addresses, and for the keys before them if there are any. Returns nothing if the
  /// launcher exits or stops the run first, or if `wait`, which is called before each read, returns
  /// false. An empty `wait` never does.
  std::optional<std::vector<PeerAddress>> hear_addresses(TcpPeer& peer,
                                                         const std::function<bool()>& wait = {});
  /// Handles later messages, if there is something to read. Returns false if the launcher has gone.
  bool hear(TcpPeer& peer);

 private:
  bool read_more();
  std::optional<std::string> take_line();
  std::optional<control::LauncherSays> hear_line(const std::function<bool()>& wait);
  void heed_lines(TcpPeer& peer);
  void handle_message(const control::LauncherSays& says, TcpPeer& peer);

  const Descriptors descriptors_;
  std::mutex mutex_;  ///< guards `mouth`
  std::string heard_;
};

// Vectors of a peer's reports go to its launcher through memory, apart from the JSON lines of
// control.h, so that a full disk costs no report. Each is a file in memory whose descriptor is sent
// over a socket. If the limit on file sizes (ulimit -f) is smaller, a vector is sent as several
// files, each with a byte that counts those that follow.

/// Descriptor of a launched peer's end of the socket.
inline constexpr int vector_descriptor = 3;

/// Sends the vector. Throws std::runtime_error if there is no memory for it. A launcher that has
/// exited is no error.
void send_vector(int socket, std::span<const float> values);
/// Returns the next vector, in the order of sending. Returns null if there is none, or if it has
/// more than `most_bytes`, which is checked before memory is allocated for it.
Payload receive_vector(int socket, std::size_t most_bytes);

}  // namespace gv
