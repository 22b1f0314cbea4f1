#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "peer/fleet/fleet.h"
#include "peer/wire/tcp/tcp_world.h"

namespace gv {

/// Addresses of all peers of a fleet in one word. "fleet-{id}.fleet:27000": each peer has its own
/// machine and listens at the same port. "10.0.0.7:27000" or "[fd00::7]:27000": all peers are on
/// one machine, at ports 27000, 27001 and so on.
struct AddressPattern {
  std::string host;  ///< without brackets; `{id}` stands for the peer's number
  std::uint16_t port = 0;

  bool own_machines() const { return host.find("{id}") != std::string::npos; }
  std::string host_of(PeerId peer) const;
  /// Returns the address to listen at: all addresses of a peer's own machine, or the shared one.
  std::string listen_host() const;
  std::vector<PeerAddress> addresses(PeerId peers) const;
};

/// Throws std::invalid_argument if the text is no address pattern.
AddressPattern parse_address_pattern(const std::string& text);

/// Returns the address of each peer of a fleet started by hand; ports start at 27000 by default.
std::vector<PeerAddress> manual_addresses(const Fleet& fleet);

}  // namespace gv
