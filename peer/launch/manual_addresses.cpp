#include "peer/launch/manual_addresses.h"

#include <cstdint>
#include <map>
#include <string>

#include <fmt/format.h>

namespace gv {
namespace {

/// Below the ports that Linux gives to outgoing connections (32768 and up), one of which could
/// otherwise hold a peer's own.
constexpr std::uint16_t first_manual_port = 27000;
}  // namespace

std::vector<PeerAddress> manual_addresses(const Fleet& fleet) {
  std::vector<PeerAddress> addresses;
  std::map<std::string, std::uint16_t> taken;  // by address: hosts may share a machine
  for (PeerId i = 0; i < fleet.size(); ++i) {
    for (const HostSpec& host : fleet.hosts) {
      if (host.name != fleet.peers[i].host) continue;
      const std::uint16_t base = host.port != 0 ? host.port : first_manual_port;
      const std::string& address = host.address.empty() ? host.name : host.address;
      const std::uint16_t place = taken[fmt::format("{}:{}", address, base)]++;
      addresses.push_back({i, address, static_cast<std::uint16_t>(base + place)});
    }
  }
  return addresses;
}

}  // namespace gv
