#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "peer/show/live/http/http_server.h"
#include "peer/wire/socket/descriptor.h"

namespace gv {

/// The address at which a run's page is served.
struct LiveAddress {
  std::string host = "127.0.0.1";  ///< or "::1", or "localhost", which is both
  std::uint16_t port = 0;          ///< 0 takes any free port

  std::string text() const;  ///< "127.0.0.1:8080", "[::1]:8080"
};

/// Parses `127.0.0.1:PORT`, `localhost:PORT` or `[::1]:PORT`. Throws std::invalid_argument for
/// other addresses, because the page is not encrypted and not meant for other machines. `asked`
/// names the option in the message.
LiveAddress parse_live_address(const std::string& text, std::string_view asked = "--serve");

/// Distinguishes an address from the name of a run: an address ends with a colon and a number.
bool is_address(const std::string& text);

/// Connects to a run that serves at this address. The descriptor is not open if no run listens.
Descriptor connect_to(const LiveAddress& address);

/// Listens at `address` and sets its port. Throws std::runtime_error if the port is taken. The
/// access requires `token` (none if empty) and a Host that is this address.
std::vector<http::Listener> listen_at(LiveAddress& address, const std::string& token);

inline constexpr const char* live_socket_name = "live.sock";

/// Listens at FOLDER/live.sock, which only its owner can open, and replaces a socket left by a
/// killed run. A path longer than a socket's address is reached through the folder's descriptor.
/// Throws std::runtime_error with path and reason, also if a run already listens there.
Descriptor listen_live(const std::string& folder);

/// Connects to the run of this folder. The descriptor is not open if no run listens there.
Descriptor connect_live(const std::string& folder);

/// Removes FOLDER/live.sock at its end.
class LiveSocketFile {
 public:
  explicit LiveSocketFile(std::string folder) : folder_(std::move(folder)) {}
  ~LiveSocketFile();
  LiveSocketFile(const LiveSocketFile&) = delete;
  LiveSocketFile& operator=(const LiveSocketFile&) = delete;

 private:
  std::string folder_;
};

}  // namespace gv
