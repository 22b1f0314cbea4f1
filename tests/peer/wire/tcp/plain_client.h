#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>

#include "peer/wire/socket/descriptor.h"

namespace gv {

/// A program of this machine that connects to one of its ports and can send anything.
class PlainClient {
 public:
  explicit PlainClient(std::uint16_t port)
      : port_(port), socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    const timeval patience{.tv_sec = 60, .tv_usec = 0};
    ::setsockopt(socket_.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    sockaddr_in there{};
    there.sin_family = AF_INET;
    there.sin_port = htons(port);
    there.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connected_ =
        ::connect(socket_.get(), reinterpret_cast<const sockaddr*>(&there), sizeof there) == 0;
  }
  bool connected() const { return connected_; }
  /// Returns the name of the connection as both ends form it.
  std::string ends() const {
    sockaddr_in own{};
    socklen_t size = sizeof own;
    ::getsockname(socket_.get(), reinterpret_cast<sockaddr*>(&own), &size);
    return fmt::format("127.0.0.1:{} 127.0.0.1:{}", ntohs(own.sin_port), port_);
  }
  bool say(std::span<const std::byte> bytes) {
    return ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL) ==
           static_cast<ssize_t>(bytes.size());
  }
  /// Returns the number of bytes received until the peer hung up.
  std::size_t heard() {
    std::vector<char> some(4096);
    std::size_t all = 0;
    for (ssize_t count = 1; count > 0;) {
      count = ::recv(socket_.get(), some.data(), some.size(), 0);
      if (count > 0) all += static_cast<std::size_t>(count);
    }
    return all;
  }

 private:
  std::uint16_t port_;
  Descriptor socket_;
  bool connected_ = false;
};

}  // namespace gv
