#include "peer/launch/own_address.h"

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <string>

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netdb.h>

#include "gossip/plan.h"
#include "optim/printable.h"
#include "peer/fleet/hosts_reader.h"
#include "peer/fleet/loopback.h"

namespace gv {
namespace {

/// The first address that a name has on this machine, in numbers; "": it has none.
std::string number_of(const std::string& name) {
  addrinfo wanted{};
  wanted.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (::getaddrinfo(name.c_str(), nullptr, &wanted, &found) != 0) return "";
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> all(found, ::freeaddrinfo);
  std::string text(NI_MAXHOST, '\0');
  const int wrong = ::getnameinfo(all->ai_addr,
                                  all->ai_addrlen,
                                  text.data(),
                                  static_cast<socklen_t>(text.size()),
                                  nullptr,
                                  0,
                                  NI_NUMERICHOST);
  return wrong == 0 ? std::string(text.c_str()) : "";
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
  const std::string number = number_of(own);
  if (!is_loopback(number)) return;
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
