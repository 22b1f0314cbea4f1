#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <sys/socket.h>

#include "peer/wire/socket/descriptor.h"

namespace gv {

// Non-blocking TCP sockets by machine name or numeric address (peer/fleet/net_address.h), IPv4 and
// IPv6. A name may have several addresses: a listener uses every address of this machine, and a
// caller tries them in turn.

/// An address as the system represents it.
struct SocketAddress {
  sockaddr_storage bytes{};
  socklen_t size = 0;

  bool v6() const { return bytes.ss_family == AF_INET6; }
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&bytes); }
  sockaddr* get() { return reinterpret_cast<sockaddr*>(&bytes); }
  std::uint16_t port() const;
  std::string host() const;  ///< numeric: "fe80::1%eth0"
};

/// Orders addresses so that the families alternate, beginning with the first one's; keeps the
/// system's order within a family (RFC 8305, 4).
template <class Address, class IsV6>
std::vector<Address> take_turns(const std::vector<Address>& all, IsV6 is_v6) {
  std::vector<Address> firsts, others, turns;
  for (const Address& each : all)
    (is_v6(each) == is_v6(all.front()) ? firsts : others).push_back(each);
  for (std::size_t k = 0; k < firsts.size() || k < others.size(); ++k) {
    if (k < firsts.size()) turns.push_back(firsts[k]);
    if (k < others.size()) turns.push_back(others[k]);
  }
  return turns;
}

/// Returns the addresses of a host that need no name service: a numeric address, or both of
/// `localhost` (RFC 6761); none for other names. Throws std::runtime_error if the host names a
/// network interface that does not exist.
std::vector<SocketAddress> known_addresses(const std::string& host, std::uint16_t port);
/// Returns all addresses of a host in the order to try; waits for the name service. Throws
/// std::runtime_error with the resolver's message.
std::vector<SocketAddress> addresses_of(const std::string& host, std::uint16_t port);

/// Listens at all of a host's addresses on this machine, at one port; for port 0, one that is free
/// at every address. Skips a family that the system lacks. `prepare` is called for each socket
/// before it listens. Throws std::runtime_error if a port is taken, or no address belongs to this
/// machine.
std::vector<Descriptor> listening_sockets(
    const std::string& host,
    std::uint16_t port,
    const std::function<void(const SocketAddress&, int socket)>& prepare = {});
/// Returns the address to which a socket is bound.
SocketAddress address_of_socket(int socket);
/// Returns this machine's loopback address: 127.0.0.1, or ::1 if the system has no IPv4.
const std::string& loopback_host();

/// Returns a connecting socket, writable once it is connected. Throws std::runtime_error with the
/// system's message.
Descriptor connecting_socket(const SocketAddress& address);
/// Returns a connection to the first address of a host that answers within `patience_ms`. Throws
/// std::runtime_error with the outcome at each address.
Descriptor connected_socket(const std::string& host, std::uint16_t port, int patience_ms);

/// Time after which the next address is tried although the last one may still answer (RFC 8305, 5).
inline constexpr int next_address_ms = 250;

}  // namespace gv
