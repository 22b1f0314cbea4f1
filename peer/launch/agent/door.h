#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <poll.h>

#include "peer/wire/lend/descriptor.h"

namespace gv {

// How two machines find out at which of its addresses one reaches the other, before any peer is
// there: one listens and answers each caller with a nonce, so that no other machine of the same
// address is taken for it.

class Door {
 public:
  /// Listens. Throws std::runtime_error: the address is taken, or not one of this machine.
  Door(const std::string& address, std::uint16_t port, std::string nonce);
  std::uint16_t port() const { return port_; }
  void answer();  ///< those that have called
  void add_to(std::vector<pollfd>& fds) const {
    for (const Descriptor& socket : sockets_) fds.push_back({socket.get(), POLLIN, 0});
  }

 private:
  std::string nonce_;
  std::vector<Descriptor> sockets_;  ///< one for each address at which it listens
  std::uint16_t port_ = 0;
};

struct Call {
  std::string address;  ///< a name or a number
  std::uint16_t port = 0;
  std::string nonce;
};

/// Calls all of them at once, a name at all of its addresses, for two seconds at most, and answers
/// at our own door meanwhile (null: there is none). Returns for each "" if it answered with its
/// nonce, or why it did not.
std::vector<std::string> answers_of(const std::vector<Call>& calls, Door* own);

}  // namespace gv
