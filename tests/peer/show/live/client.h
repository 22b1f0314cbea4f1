#pragma once

#include <array>
#include <cstdint>
#include <string>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "peer/wire/socket/descriptor.h"

namespace gv {

/// A plain socket to a port of this machine.
class Client {
 public:
  explicit Client(std::uint16_t port) : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connected_ =
        ::connect(socket_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  }
  explicit Client(Descriptor socket) : socket_(std::move(socket)), connected_(true) {}

  bool connected() const { return connected_; }
  void send(const std::string& text) const {
    (void)::send(socket_.get(), text.data(), text.size(), MSG_NOSIGNAL);
  }
  /// Announces that no more will be sent.
  void finish() const { ::shutdown(socket_.get(), SHUT_WR); }
  /// Returns at least one byte, or "" at the end.
  std::string some() const {
    std::array<char, 65536> buffer;
    const ssize_t count = ::recv(socket_.get(), buffer.data(), buffer.size(), 0);
    return count > 0 ? std::string(buffer.data(), static_cast<std::size_t>(count)) : "";
  }
  std::string all() const {
    std::string text;
    for (std::string more = some(); !more.empty(); more = some()) text += more;
    return text;
  }

 private:
  Descriptor socket_;
  bool connected_ = false;
};

inline std::string get(std::uint16_t port, const std::string& path, const std::string& host) {
  const Client client(port);
  client.send("GET " + path + " HTTP/1.1\r\nHost: " + host + "\r\n\r\n");
  return client.all();
}

}  // namespace gv
