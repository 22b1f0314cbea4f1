#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include <sys/socket.h>

#include "peer/wire/socket/named_socket.h"

namespace gv {

inline bool has_ipv6() {
  try {
    return !listening_sockets("::1", 0).empty();
  } catch (const std::runtime_error&) {
    return false;
  }
}

/// Returns a port at which no process listens.
inline std::uint16_t closed_port() {
  return address_of_socket(listening_sockets("127.0.0.1", 0).front().get()).port();
}

/// An address of this machine that does not answer, as if a firewall dropped packets: its queue is
/// full, so the system drops new connections.
class SilentAddress {
 public:
  explicit SilentAddress(std::uint16_t port = 0) {
    listening_ = listening_sockets(host_, port);
    ::listen(listening_.front().get(), 0);
    for (int k = 0; k < 4; ++k)
      waiting_.push_back(connecting_socket(known_addresses(host_, this->port()).front()));
  }
  const std::string& host() const { return host_; }
  std::uint16_t port() const { return address_of_socket(listening_.front().get()).port(); }

 private:
  std::string host_ = "127.0.0.3";
  std::vector<Descriptor> listening_, waiting_;
};

}  // namespace gv
