#include "peer/study/bench/plain_streams.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <string_view>
#include <vector>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "peer/wire/lend/descriptor.h"
#include "peer/wire/tcp/named_socket.h"

namespace gv {
namespace {

constexpr std::size_t piece = 512 * 1024;

[[noreturn]] void fail(const char* what) {
  throw std::runtime_error(std::string(what) + ": " + std::strerror(errno));
}

SocketAddress loopback(std::uint16_t port) {
  return known_addresses(loopback_host(), port).front();
}

/// A socket with the options of the peers' own, and these buffers: the window that a connection
/// offers is fixed as it is made, so a listening one hands them on.
int new_socket(int buffer) {
  const int fd = ::socket(loopback(0).bytes.ss_family, SOCK_STREAM, 0);
  if (fd < 0) fail("socket");
  constexpr int one = 1;
  constexpr std::string_view reno = "reno";
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  ::setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, reno.data(), reno.size());
  if (buffer == 0) return fd;
  ::setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &buffer, sizeof buffer);
  ::setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &buffer, sizeof buffer);
  return fd;
}

struct Listener {
  int fd = -1;
  std::uint16_t port = 0;
};

Listener listen_somewhere(int buffer) {
  Listener listener{new_socket(buffer), 0};
  const SocketAddress address = loopback(0);
  if (::bind(listener.fd, address.get(), address.size) != 0) fail("bind");
  if (::listen(listener.fd, 8) != 0) fail("listen");
  listener.port = address_of_socket(listener.fd).port();
  return listener;
}

/// One neighbour: how far this round's vector has gone out and come in.
struct Neighbour {
  int fd;
  std::vector<std::byte> received;
  std::size_t out = 0;
  std::size_t in = 0;
};

void move_some(Neighbour& n, const std::vector<std::byte>& vector, short events) {
  if ((events & POLLOUT) != 0 && n.out < vector.size()) {
    const std::size_t most = std::min(piece, vector.size() - n.out);
    const ssize_t count = ::send(n.fd, vector.data() + n.out, most, MSG_NOSIGNAL);
    if (count > 0) n.out += static_cast<std::size_t>(count);
    if (count < 0 && errno != EAGAIN) fail("send");
  }
  if ((events & POLLIN) != 0 && n.in < n.received.size()) {
    const std::size_t most = std::min(piece, n.received.size() - n.in);
    const ssize_t count = ::recv(n.fd, n.received.data() + n.in, most, 0);
    if (count > 0) n.in += static_cast<std::size_t>(count);
    if (count == 0 || (count < 0 && errno != EAGAIN)) fail("recv");
  }
}

void round_trip(std::array<Neighbour, 2>& neighbours, const std::vector<std::byte>& vector) {
  for (Neighbour& n : neighbours) n.in = n.out = 0;
  for (;;) {
    std::array<pollfd, 2> fds{};
    bool busy = false;
    for (std::size_t i = 0; i < fds.size(); ++i) {
      const Neighbour& n = neighbours[i];
      const int wanted =
          (n.out < vector.size() ? POLLOUT : 0) | (n.in < vector.size() ? POLLIN : 0);
      fds[i] = {wanted != 0 ? n.fd : -1, static_cast<short>(wanted), 0};
      busy = busy || wanted != 0;
    }
    if (!busy) return;
    ::poll(fds.data(), fds.size(), -1);
    for (std::size_t i = 0; i < fds.size(); ++i) move_some(neighbours[i], vector, fds[i].revents);
  }
}

}  // namespace

void plain_streams(std::uint32_t rank,
                   Gathering& gathering,
                   int socket_buffer,
                   std::size_t bytes,
                   int warmup,
                   int rounds) {
  const Listener listener = listen_somewhere(socket_buffer);
  const auto ports = gathering.exchange_ports(rank, listener.port);
  const int next = new_socket(socket_buffer);
  const SocketAddress address = loopback(ports[(rank + 1) % gathering.processes]);
  if (::connect(next, address.get(), address.size) != 0) fail("connect");
  const int previous = ::accept(listener.fd, nullptr, nullptr);
  if (previous < 0) fail("accept");
  const std::vector<std::byte> vector(bytes, std::byte{1});
  for (const int fd : {next, previous}) never_block(fd);
  std::array<Neighbour, 2> neighbours{Neighbour{next, std::vector<std::byte>(bytes)},
                                      Neighbour{previous, std::vector<std::byte>(bytes)}};
  Stopwatches watches(gathering, rank);
  for (int round = 0; round < warmup + rounds; ++round) {
    if (round == warmup) watches.start();
    round_trip(neighbours, vector);
  }
  watches.stop(rounds);
}

}  // namespace gv
