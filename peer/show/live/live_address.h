#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "peer/show/live/http_server.h"

namespace gv {

/// The address at which a run's page is served.
struct LiveAddress {
  std::string host = "127.0.0.1";  ///< or "::1", or "localhost", which is both
  std::uint16_t port = 0;          ///< 0 takes any free port

  std::string text() const;  ///< "127.0.0.1:8080", "[::1]:8080"
};

/// `127.0.0.1:PORT`, `localhost:PORT` or `[::1]:PORT`. Throws std::invalid_argument on anything
/// else: what is served is neither encrypted nor meant for other machines. `asked`: who asks, for
/// the message.
LiveAddress parse_live_address(const std::string& text, std::string_view asked = "--serve");

/// Tells an address from the name of a run: an address ends with a colon and a number.
bool is_address(const std::string& text);

/// A connection to what a run serves there; not open where nobody listens.
Descriptor connect_to(const LiveAddress& address);

/// Listens there; `address` gets the port. Throws std::runtime_error when it is taken. The door
/// asks for `token` (empty: for none) and for a Host that is this address.
std::vector<http::Listener> listen_at(LiveAddress& address, const std::string& token);

}  // namespace gv
