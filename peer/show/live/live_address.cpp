#include "peer/show/live/live_address.h"

#include <stdexcept>

#include <fmt/format.h>
#include <sys/socket.h>

#include "optim/printable.h"
#include "peer/fleet/net_address.h"
#include "peer/wire/socket/named_socket.h"

namespace gv {
namespace {

[[noreturn]] void refuse(std::string_view asked, const std::string& text, const std::string& why) {
  throw std::invalid_argument(fmt::format("{} {}: {}", asked, printable(text, 80), why));
}

}  // namespace

std::string LiveAddress::text() const {
  return host_port_text(host == "localhost" ? loopback_host() : host, port);
}

LiveAddress parse_live_address(const std::string& text, std::string_view asked) {
  HostPort at;
  try {
    at = parse_host_port(text);
  } catch (const std::invalid_argument& wrong) {
    refuse(asked, text,
           fmt::format("{}; it is 127.0.0.1:8080, localhost:8080 or [::1]:8080", wrong.what()));
  }
  if (at.host != "127.0.0.1" && at.host != "localhost" && at.host != "::1") {
    refuse(asked, text,
           "the page is not encrypted, so it is served on this machine only: 127.0.0.1, localhost "
           "or [::1]\nhelp:  from another machine: ssh -L 8080:127.0.0.1:8080 THIS_MACHINE, with "
           "--serve 127.0.0.1:8080 here");
  }
  return {.host = at.host, .port = at.port};
}

bool is_address(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  return colon != std::string::npos && colon + 1 < text.size() &&
         text.find_first_not_of("0123456789", colon + 1) == std::string::npos;
}

Descriptor connect_to(const LiveAddress& address) {
  for (const SocketAddress& where : known_addresses(address.host, address.port)) {
    Descriptor socket(::socket(where.bytes.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (socket.open() && ::connect(socket.get(), where.get(), where.size) == 0) return socket;
  }
  return {};
}

std::vector<http::Listener> listen_at(LiveAddress& address, const std::string& token) {
  std::vector<http::Listener> listeners;
  try {
    for (Descriptor& socket : listening_sockets(address.host, address.port)) {
      const SocketAddress own = address_of_socket(socket.get());
      address.port = own.port();
      http::Access access{.hosts = {host_port_text(own.host(), own.port()),
                                    fmt::format("localhost:{}", own.port())},
                          .token = token,
                          .cookie = fmt::format("grapevine_{}", own.port())};
      // Browsers leave out the default port.
      if (own.port() == 80)
        access.hosts.insert(access.hosts.end(), {"localhost", "127.0.0.1", "[::1]"});
      listeners.push_back({std::move(socket), std::move(access)});
    }
  } catch (const std::runtime_error& wrong) {
    throw std::runtime_error(
        fmt::format("--serve: {}\nhelp:  --serve 127.0.0.1:0 takes any free port", wrong.what()));
  }
  return listeners;
}

}  // namespace gv
