#include "peer/show/live/live_address.h"

#include <cerrno>
#include <charconv>
#include <cstring>
#include <stdexcept>

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "optim/printable.h"

namespace gv {
namespace {

[[noreturn]] void refuse(std::string_view asked, const std::string& text, const std::string& why) {
  throw std::invalid_argument(fmt::format("{} {}: {}", asked, printable(text, 80), why));
}

union SocketAddress {
  sockaddr any;
  sockaddr_in v4;
  sockaddr_in6 v6;
};

SocketAddress address_of(const LiveAddress& address) {
  SocketAddress all{};
  if (address.v6) {
    all.v6.sin6_family = AF_INET6;
    all.v6.sin6_port = htons(address.port);
    all.v6.sin6_addr = in6addr_loopback;
  } else {
    all.v4.sin_family = AF_INET;
    all.v4.sin_port = htons(address.port);
    all.v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  }
  return all;
}

}  // namespace

std::string LiveAddress::text() const {
  return fmt::format("{}:{}", v6 ? "[::1]" : "127.0.0.1", port);
}

LiveAddress parse_live_address(const std::string& text, std::string_view asked) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string::npos)
    refuse(asked, text, "expected 127.0.0.1:PORT, such as 127.0.0.1:8080");
  const std::string host = text.substr(0, colon);
  const std::string digits = text.substr(colon + 1);
  LiveAddress address{.v6 = host == "[::1]"};
  const char* const end = digits.data() + digits.size();
  const auto [last, error] = std::from_chars(digits.data(), end, address.port);
  if (error != std::errc{} || last != end)
    refuse(asked, text, "the port is a number from 0 (any free one) to 65535");
  if (!address.v6 && host != "127.0.0.1" && host != "localhost") {
    refuse(asked,
           text,
           "the page is not encrypted, so it is served on this machine only: 127.0.0.1, localhost "
           "or [::1]\nhelp:  from another machine: ssh -L 8080:127.0.0.1:8080 THIS_MACHINE, with "
           "--serve 127.0.0.1:8080 here");
  }
  return address;
}

bool is_address(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  return colon != std::string::npos && colon + 1 < text.size() &&
         text.find_first_not_of("0123456789", colon + 1) == std::string::npos;
}

Descriptor connect_to(const LiveAddress& address) {
  Descriptor socket(::socket(address.v6 ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const SocketAddress where = address_of(address);
  const socklen_t size = address.v6 ? sizeof where.v6 : sizeof where.v4;
  if (!socket.open() || ::connect(socket.get(), &where.any, size) != 0) return {};
  return socket;
}

http::Listener listen_at(LiveAddress& address, const std::string& token) {
  constexpr int most_waiting = 16;
  Descriptor socket(
      ::socket(address.v6 ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const int yes = 1;
  ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  SocketAddress where = address_of(address);
  socklen_t size = address.v6 ? sizeof where.v6 : sizeof where.v4;
  if (!socket.open() || ::bind(socket.get(), &where.any, size) != 0 ||
      ::listen(socket.get(), most_waiting) != 0) {
    throw std::runtime_error(
        fmt::format("--serve {}: {}\nhelp:  --serve 127.0.0.1:0 takes any "
                    "free port",
                    address.text(),
                    std::strerror(errno)));
  }
  ::getsockname(socket.get(), &where.any, &size);
  address.port = ntohs(address.v6 ? where.v6.sin6_port : where.v4.sin_port);
  http::Door door{.hosts = {address.text(), fmt::format("localhost:{}", address.port)},
                  .token = token,
                  .cookie = fmt::format("grapevine_{}", address.port)};
  // Browsers leave out a port that is their usual one.
  if (address.port == 80) door.hosts.insert(door.hosts.end(), {"localhost", "127.0.0.1", "[::1]"});
  return {std::move(socket), std::move(door)};
}

}  // namespace gv
