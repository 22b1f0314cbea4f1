#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gossip/seam/message.h"
#include "peer/launch/discovery/mdns.h"

namespace gv {

/// Answers questions for one lobby on the interfaces of this machine that are up and have
/// multicast, and on its loopback, over IPv4 and IPv6. Shares UDP port 5353 with the system's own
/// responder. Announces the lobby on each new interface, and sends a goodbye when destroyed. Has a
/// thread, which looks for changed interfaces every 2 s, and sends at most 50 unicast answers a
/// second and one multicast answer a second on each interface (RFC 6762, 6).
class LobbyResponder {
 public:
  /// Announces a lobby that listens at this TCP port. `lobby` is at most most_lobby; `interfaces`
  /// lists the names of the interfaces to use, or none for all. Throws std::runtime_error if port
  /// 5353 cannot be shared.
  LobbyResponder(unsigned lobby,
                 std::uint16_t port,
                 int version,
                 std::vector<std::string> interfaces = {});
  ~LobbyResponder();

  /// Returns the label by which find_lobbies distinguishes this lobby from others of its number.
  const std::string& host() const;

 private:
  struct Answering;
  std::unique_ptr<Answering> answering_;
};

/// A lobby that has answered.
struct FoundLobby {
  LobbyNotice notice;  ///< from its first answer
  /// Addresses to call, the likeliest first: that of the answer, those in a network of this
  /// machine, others, and link-local IPv6 with the interface of the answer ("fe80::1%eth0").
  std::vector<std::string> addresses;
  bool is_here = false;  ///< on this machine
};

/// Asks on all interfaces for the lobbies of a number, or for all lobbies, at once and after 1, 2,
/// 4, ... s (RFC 6762, 5.2). Returns 0.3 s after the first of that number has answered, so that a
/// second one shows too; else after `patience`, or soon after `stopped` returns true. Lobbies are
/// in the order of their host labels, which distinguish those of one number. Answers must come from
/// this link: their hop limit is 255 (RFC 6762, 11). Asks from a free port, and after 1 s from port
/// 5353 too if it can be shared, because a firewall may let only answers to that port in.
std::vector<FoundLobby> find_lobbies(std::optional<unsigned> lobby,
                                     Time patience,
                                     const std::function<bool()>& stopped = {},
                                     const std::vector<std::string>& interfaces = {});

}  // namespace gv
