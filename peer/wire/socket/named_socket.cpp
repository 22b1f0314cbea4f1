#include "peer/wire/socket/named_socket.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <memory>
#include <stdexcept>

#include <fmt/format.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>

#include "peer/fleet/net_address.h"

namespace gv {
namespace {

using Found = std::unique_ptr<addrinfo, void (*)(addrinfo*)>;
using Clock = std::chrono::steady_clock;

/// Looks a host up with these flags of getaddrinfo(3). Throws std::runtime_error with its message.
std::vector<SocketAddress> look_up(const std::string& host, std::uint16_t port, int flags) {
  addrinfo wanted{};
  wanted.ai_socktype = SOCK_STREAM;
  wanted.ai_flags = flags | AI_NUMERICSERV;
  addrinfo* first = nullptr;
  const int wrong = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &wanted, &first);
  if (wrong != 0) throw std::runtime_error(::gai_strerror(wrong));
  const Found found(first, ::freeaddrinfo);
  std::vector<SocketAddress> all;
  for (const addrinfo* each = found.get(); each != nullptr; each = each->ai_next) {
    if (each->ai_addrlen > sizeof(sockaddr_storage)) continue;
    SocketAddress address;
    std::memcpy(&address.bytes, each->ai_addr, each->ai_addrlen);
    address.size = each->ai_addrlen;
    const bool twice = std::ranges::any_of(all, [&](const SocketAddress& known) {
      return known.size == address.size && std::memcmp(known.get(), address.get(), known.size) == 0;
    });
    if (!twice) all.push_back(address);  // a hosts file may contain a line twice
  }
  return all;
}

/// Returns whether this machine lacks the address or its family.
bool is_not_ours(int error) {
  return error == EADDRNOTAVAIL || error == EAFNOSUPPORT || error == EPROTONOSUPPORT;
}

/// Listens at an address. Returns the port, or -errno.
int listen_at(SocketAddress address,
              std::uint16_t port,
              const std::function<void(const SocketAddress&, int)>& prepare,
              Descriptor& socket) {
  constexpr int most_waiting = 128;
  const int on = 1;
  socket =
      Descriptor(::socket(address.bytes.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!socket.open()) return -errno;
  ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  // Each family has its own socket, so that IPv4 addresses never appear as IPv6 ones.
  if (address.v6()) ::setsockopt(socket.get(), IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
  if (prepare) prepare(address, socket.get());
  if (address.v6())
    reinterpret_cast<sockaddr_in6*>(&address.bytes)->sin6_port = htons(port);
  else
    reinterpret_cast<sockaddr_in*>(&address.bytes)->sin_port = htons(port);
  if (::bind(socket.get(), address.get(), address.size) != 0) return -errno;
  if (::listen(socket.get(), most_waiting) != 0) return -errno;
  return address_of_socket(socket.get()).port();
}

std::string errno_text(int error) {
  return std::strerror(error);
}

[[noreturn]] void fail_to_listen(const std::string& address, const std::string& why) {
  throw std::runtime_error(fmt::format("cannot listen on {}: {}", address, why));
}

/// Tries addresses in order, each after the one before has failed or has had its time.
class Attempts {
 public:
  explicit Attempts(std::vector<SocketAddress> addresses) : addresses_(std::move(addresses)) {}

  Descriptor first_answer(Clock::time_point until) {
    Clock::time_point next = Clock::now();
    while (Clock::now() < until && !(under_way_.empty() && begun_ == addresses_.size())) {
      if (Clock::now() >= next && begun_ < addresses_.size()) {
        next = Clock::now() + std::chrono::milliseconds(next_address_ms);
        begin(addresses_[begun_++]);
      }
      const std::size_t before = under_way_.size();
      Descriptor there = wait(begun_ == addresses_.size() ? until : std::min(next, until));
      if (there.open()) return there;
      if (under_way_.size() < before || under_way_.empty()) next = Clock::now();
    }
    for (const Attempt& each : under_way_) note(each.host, "answers nothing");
    throw std::runtime_error(why_);
  }

 private:
  void begin(const SocketAddress& address) {
    try {
      under_way_.push_back({connecting_socket(address), address.host()});
    } catch (const std::runtime_error& failed) {
      note(address.host(), failed.what());
    }
  }

  void note(const std::string& host, const std::string& why) {
    if (!why_.empty()) why_ += "; ";
    why_ += addresses_.size() == 1 ? why : fmt::format("{}: {}", host, why);
  }

  /// Returns a connection, or a closed descriptor if there is none. Removes failed attempts.
  Descriptor wait(Clock::time_point until) {
    std::vector<pollfd> fds;
    for (const Attempt& each : under_way_) fds.push_back({each.socket.get(), POLLOUT, 0});
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now()).count();
    if (!fds.empty()) ::poll(fds.data(), fds.size(), static_cast<int>(std::max(left, 0L)));
    for (std::size_t k = fds.size(); k-- > 0;) {
      if (fds[k].revents == 0) continue;
      int error = 0;
      socklen_t bytes = sizeof error;
      ::getsockopt(fds[k].fd, SOL_SOCKET, SO_ERROR, &error, &bytes);
      if (error == 0) return std::move(under_way_[k].socket);
      note(under_way_[k].host, errno_text(error));
      under_way_.erase(under_way_.begin() + static_cast<std::ptrdiff_t>(k));
    }
    return {};
  }

  struct Attempt {
    Descriptor socket;
    std::string host;
  };
  std::vector<SocketAddress> addresses_;
  std::size_t begun_ = 0;
  std::vector<Attempt> under_way_;
  std::string why_;
};

}  // namespace

std::uint16_t SocketAddress::port() const {
  return ntohs(v6() ? reinterpret_cast<const sockaddr_in6&>(bytes).sin6_port
                    : reinterpret_cast<const sockaddr_in&>(bytes).sin_port);
}

std::string SocketAddress::host() const {
  std::array<char, NI_MAXHOST> text{};
  const int wrong =
      ::getnameinfo(get(), size, text.data(), text.size(), nullptr, 0, NI_NUMERICHOST);
  return wrong == 0 ? text.data() : "";
}

std::vector<SocketAddress> known_addresses(const std::string& host, std::uint16_t port) {
  if (host == "localhost") {
    std::vector<SocketAddress> both = look_up("127.0.0.1", port, AI_NUMERICHOST);
    both.push_back(look_up("::1", port, AI_NUMERICHOST).front());
    return both;
  }
  if (!is_numeric(host)) return {};
  const std::size_t percent = host.find('%');
  if (percent != std::string::npos && ::if_nametoindex(host.c_str() + percent + 1) == 0)
    throw std::runtime_error(
        fmt::format("this machine has no network interface `{}` (`ip link` lists them)",
                    host.substr(percent + 1)));
  return look_up(host, port, AI_NUMERICHOST);
}

std::vector<SocketAddress> addresses_of(const std::string& host, std::uint16_t port) {
  const std::vector<SocketAddress> known = known_addresses(host, port);
  if (!known.empty()) return known;
  return take_turns(look_up(host, port, 0), [](const SocketAddress& a) { return a.v6(); });
}

std::vector<Descriptor> listening_sockets(
    const std::string& host,
    std::uint16_t port,
    const std::function<void(const SocketAddress&, int socket)>& prepare) {
  constexpr int most_tries = 50;  // another process may hold the chosen port at a later address
  const std::string address = host_port_text(host, port);
  std::vector<SocketAddress> places;
  try {
    places = addresses_of(host, port);
    if (host == any_address) places.push_back(addresses_of("0.0.0.0", port).front());
  } catch (const std::runtime_error& unknown) {
    fail_to_listen(address, unknown.what());
  }
  int error = 0;
  for (int k = 0; k < most_tries; ++k) {
    std::vector<Descriptor> sockets;
    std::uint16_t common = port;
    error = 0;
    for (const SocketAddress& place : places) {
      Descriptor socket;
      const int got = listen_at(place, common, prepare, socket);
      if (got < 0 && error == 0) error = -got;
      if (got < 0 && !is_not_ours(-got)) {
        error = -got;
        break;
      }
      if (got < 0) continue;
      common = static_cast<std::uint16_t>(got);
      sockets.push_back(std::move(socket));
    }
    if (!sockets.empty() && (error == 0 || is_not_ours(error))) return sockets;
    if (port != 0 || error != EADDRINUSE) break;
  }
  fail_to_listen(address, errno_text(error));
}

SocketAddress address_of_socket(int socket) {
  SocketAddress own;
  own.size = sizeof own.bytes;
  if (::getsockname(socket, own.get(), &own.size) != 0) own = {};
  return own;
}

const std::string& loopback_host() {
  static const std::string host = [] {
    Descriptor socket;
    const SocketAddress usual = known_addresses("127.0.0.1", 0).front();
    return listen_at(usual, 0, {}, socket) < 0 ? "::1" : "127.0.0.1";
  }();
  return host;
}

Descriptor connecting_socket(const SocketAddress& address) {
  Descriptor socket(
      ::socket(address.bytes.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!socket.open() ||
      (::connect(socket.get(), address.get(), address.size) != 0 && errno != EINPROGRESS))
    throw std::runtime_error(errno_text(errno));
  return socket;
}

Descriptor connected_socket(const std::string& host, std::uint16_t port, int patience_ms) {
  return Attempts(addresses_of(host, port))
      .first_answer(Clock::now() + std::chrono::milliseconds(patience_ms));
}

}  // namespace gv
