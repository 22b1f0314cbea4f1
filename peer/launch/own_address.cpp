#include "peer/launch/own_address.h"

#include <algorithm>
#include <stdexcept>
#include <string>

#include <fmt/format.h>

#include "gossip/plan.h"
#include "optim/printable.h"
#include "peer/fleet/net_address.h"
#include "peer/fleet/sections.h"
#include "peer/wire/tcp/named_socket.h"

namespace gv {
namespace {

/// Returns the first of a name's addresses on this machine, in numbers, if they all lead to this
/// machine alone; else "".
std::string own_number_of(const std::string& name) {
  try {
    const std::vector<SocketAddress> all = addresses_of(name, 0);
    const bool own = std::ranges::all_of(
        all, [](const SocketAddress& address) { return is_loopback(address.host()); });
    return own ? all.front().host() : "";
  } catch (const std::runtime_error&) {
    return "";
  }
}

}  // namespace

void check_own_address(const Assembly& fleet,
                       PeerId id,
                       const std::vector<PeerAddress>& addresses) {
  const std::string& own = addresses.at(id).host;
  const std::vector<PeerId> links = links_of(fleet.plan(id));
  const auto is_elsewhere = [&](PeerId neighbor) {
    const std::string& host = addresses.at(neighbor).host;
    return host != own && !is_loopback(host);
  };
  const auto far = std::ranges::find_if(links, is_elsewhere);
  if (far == links.end()) return;
  const std::string number = own_number_of(own);
  if (number.empty()) return;
  const std::string& host = fleet.fleet.peers[id].host;
  throw std::runtime_error(fmt::format(
      "{}'s address `{}` is {} on this machine, which only {} itself can reach, and peer {} lives "
      "on another one ({})\nhelp:  does /etc/hosts map its name to that? Give the address of its "
      "network card as `address`",
      host,
      printable(own, 100),
      number,
      host,
      *far,
      place_of_address(fleet.fleet, host)));
}

}  // namespace gv
