#include "peer/launch/agent/named_socket.h"

#include <cerrno>
#include <cstring>
#include <memory>
#include <stdexcept>

#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

namespace gv {
namespace {

using Found = std::unique_ptr<addrinfo, void (*)(addrinfo*)>;

/// Throws std::runtime_error with the resolver's words.
Found look_up(const std::string& name, std::uint16_t port, int flags) {
  addrinfo wanted{};
  wanted.ai_socktype = SOCK_STREAM;
  wanted.ai_flags = flags | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const int wrong = ::getaddrinfo(name.c_str(), std::to_string(port).c_str(), &wanted, &found);
  if (wrong != 0) throw std::runtime_error(::gai_strerror(wrong));
  return {found, ::freeaddrinfo};
}

Descriptor socket_for(const addrinfo& found) {
  return Descriptor(::socket(found.ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
}

}  // namespace

Descriptor listening_socket(const std::string& address, std::uint16_t port) {
  constexpr int most_waiting = 128;
  std::string why;
  try {
    const Found found = look_up(address, port, AI_PASSIVE);
    Descriptor socket = socket_for(*found);
    const int on = 1;
    ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (::bind(socket.get(), found->ai_addr, found->ai_addrlen) == 0 &&
        ::listen(socket.get(), most_waiting) == 0)
      return socket;
    why = std::strerror(errno);
  } catch (const std::runtime_error& unknown) {
    why = unknown.what();
  }
  throw std::runtime_error(fmt::format("cannot listen on {} port {}: {}", address, port, why));
}

std::uint16_t port_of(int socket) {
  sockaddr_storage own{};
  socklen_t bytes = sizeof own;
  if (::getsockname(socket, reinterpret_cast<sockaddr*>(&own), &bytes) != 0) return 0;
  const bool v6 = own.ss_family == AF_INET6;
  return ntohs(v6 ? reinterpret_cast<sockaddr_in6&>(own).sin6_port
                  : reinterpret_cast<sockaddr_in&>(own).sin_port);
}

Descriptor connecting_socket(const std::string& address, std::uint16_t port) {
  const Found found = look_up(address, port, 0);
  Descriptor socket = socket_for(*found);
  if (::connect(socket.get(), found->ai_addr, found->ai_addrlen) != 0 && errno != EINPROGRESS)
    throw std::runtime_error(std::strerror(errno));
  return socket;
}

}  // namespace gv
