#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "peer/fleet/fleet.h"
#include "peer/wire/tcp/tcp_world.h"

namespace gv {

/// The addresses of all peers of a fleet, in one word: "fleet-{id}.fleet:27000" says that each has
/// a machine of its own, and the same port there; "10.0.0.7:27000" or "[fd00::7]:27000" that all
/// are on one machine, at the ports from 27000 on.
struct AddressPattern {
  std::string host;  ///< without brackets; `{id}` stands for a peer's number
  std::uint16_t port = 0;

  bool own_machines() const { return host.find("{id}") != std::string::npos; }
  std::string host_of(PeerId peer) const;
  /// Returns where a peer listens: at all addresses of its own machine, or at that of all.
  std::string listen_host() const;
  std::vector<PeerAddress> addresses(PeerId peers) const;
};

/// Throws std::invalid_argument.
AddressPattern parse_address_pattern(const std::string& text);

/// Returns where each peer of a fleet started by hand is to be found; ports from 27000 where the
/// file gives none.
std::vector<PeerAddress> manual_addresses(const Fleet& fleet);

}  // namespace gv
