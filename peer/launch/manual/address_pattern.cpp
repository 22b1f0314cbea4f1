#include "peer/launch/manual/address_pattern.h"

#include <cstdint>
#include <limits>
#include <map>
#include <stdexcept>
#include <string>

#include <fmt/format.h>

#include "optim/printable.h"
#include "peer/fleet/net_address.h"

namespace gv {
namespace {

/// First port of peers started by hand: below Linux's ephemeral ports (32768 and up), because an
/// outgoing connection could otherwise hold a peer's port.
constexpr std::uint16_t first_manual_port = 27000;

}  // namespace

std::string AddressPattern::host_of(PeerId peer) const {
  constexpr std::string_view mark = "{id}";
  std::string name = host;
  const std::string number = std::to_string(peer);
  for (std::size_t at = name.find(mark); at != std::string::npos;
       at = name.find(mark, at + number.size()))
    name.replace(at, mark.size(), number);
  return name;
}

std::string AddressPattern::listen_host() const {
  return own_machines() ? std::string(any_address) : host;
}

std::vector<PeerAddress> AddressPattern::addresses(PeerId peers) const {
  constexpr std::uint32_t most = std::numeric_limits<std::uint16_t>::max();
  const std::string text = printable(host_port_text(host, port), 110);
  if (!own_machines() && port + std::uint64_t{peers} - 1 > most)
    throw std::invalid_argument(
        fmt::format("--at {}: {} peers on one machine need the ports up to {}, and the last is {}",
                    text, peers, port + std::uint64_t{peers} - 1, most));
  std::vector<PeerAddress> all;
  for (PeerId i = 0; i < peers; ++i) {
    const std::string name = host_of(i);
    if (const std::string wrong = host_objection(name); !wrong.empty())
      throw std::invalid_argument(fmt::format("--at {}: {}", text, wrong));
    const auto own_port = static_cast<std::uint16_t>(own_machines() ? port : port + i);
    all.push_back({i, name, own_port});
  }
  return all;
}

AddressPattern parse_address_pattern(const std::string& text) {
  try {
    const HostPort at = split_host_port(text);
    const AddressPattern pattern{.host = at.host, .port = at.port};
    std::string wrong = host_objection(pattern.host_of(0));
    if (wrong.empty() && at.port == 0)
      wrong = "port 0 is any free one, which the others do not know";
    if (!wrong.empty()) throw std::invalid_argument(wrong);
    return pattern;
  } catch (const std::invalid_argument& wrong) {
    throw std::invalid_argument(
        fmt::format("--at {}: {}\nhelp:  HOST:PORT, with {{id}} for the peer's number where each "
                    "has a host of its own, such as fleet-{{id}}.fleet:27000",
                    printable(text, 100), wrong.what()));
  }
}

std::vector<PeerAddress> manual_addresses(const Fleet& fleet) {
  std::vector<PeerAddress> addresses;
  std::map<std::string, std::uint16_t> taken;  // peers per address: hosts may share a machine
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
