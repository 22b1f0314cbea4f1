#include "peer/show/live/live_address.h"

#include <cerrno>
#include <cstring>
#include <stdexcept>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "optim/printable.h"
#include "peer/fleet/net_address.h"
#include "peer/wire/socket/named_socket.h"

namespace gv {
namespace {

[[noreturn]] void refuse_address(std::string_view asked,
                                 const std::string& text,
                                 const std::string& why) {
  throw std::invalid_argument(fmt::format("{} {}: {}", asked, printable(text, 80), why));
}

std::string path_in(const std::string& folder) {
  return folder + "/" + live_socket_name;
}

/// The address of a socket in a folder; keeps the folder open while the address is used.
class Address {
 public:
  explicit Address(const std::string& folder) {
    std::string path = path_in(folder);
    if (path.size() >= sizeof address_.sun_path) {
      folder_ = Descriptor(::open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
      path = fmt::format("/proc/self/fd/{}/{}", folder_.get(), live_socket_name);
    }
    address_.sun_family = AF_UNIX;
    std::memcpy(address_.sun_path, path.c_str(), path.size() + 1);
  }
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&address_); }
  static socklen_t size() { return sizeof(sockaddr_un); }

 private:
  Descriptor folder_;
  sockaddr_un address_{};
};

Descriptor new_socket(int flags) {
  return Descriptor(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | flags, 0));
}

[[noreturn]] void refuse_address(const std::string& folder, const std::string& why) {
  throw std::runtime_error(fmt::format("{}: {}", path_in(folder), why));
}

}  // namespace

std::string LiveAddress::text() const {
  return host_port_text(host == "localhost" ? loopback_host() : host, port);
}

LiveAddress parse_live_address(const std::string& text, std::string_view asked) {
  HostPort at;
  try {
    at = parse_host_port(text);
  } catch (const std::invalid_argument& wrong) {
    refuse_address(
        asked, text,
        fmt::format("{}; it is 127.0.0.1:8080, localhost:8080 or [::1]:8080", wrong.what()));
  }
  if (at.host != "127.0.0.1" && at.host != "localhost" && at.host != "::1") {
    refuse_address(
        asked, text,
        "the page is not encrypted, so it is served on this machine only: 127.0.0.1, localhost "
        "or [::1]\nhelp:  from another machine: ssh -L 8080:127.0.0.1:8080 THIS_MACHINE, with "
        "--serve 127.0.0.1:8080 here");
  }
  return {.host = at.host, .port = at.port};
}

bool is_address(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  return colon != std::string::npos && colon + 1 < text.size() &&
         text.find_first_not_of("0123456789", colon + 1) == std::string::npos;
}

Descriptor connect_to(const LiveAddress& address) {
  for (const SocketAddress& where : known_addresses(address.host, address.port)) {
    Descriptor socket(::socket(where.bytes.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (socket.open() && ::connect(socket.get(), where.get(), where.size) == 0) return socket;
  }
  return {};
}

std::vector<http::Listener> listen_at(LiveAddress& address, const std::string& token) {
  std::vector<http::Listener> listeners;
  try {
    for (Descriptor& socket : listening_sockets(address.host, address.port)) {
      const SocketAddress own = address_of_socket(socket.get());
      address.port = own.port();
      http::Access access{.hosts = {host_port_text(own.host(), own.port()),
                                    fmt::format("localhost:{}", own.port())},
                          .token = token,
                          .cookie = fmt::format("grapevine_{}", own.port())};
      // Browsers leave out the default port.
      if (own.port() == 80)
        access.hosts.insert(access.hosts.end(), {"localhost", "127.0.0.1", "[::1]"});
      listeners.push_back({std::move(socket), std::move(access)});
    }
  } catch (const std::runtime_error& wrong) {
    throw std::runtime_error(
        fmt::format("--serve: {}\nhelp:  --serve 127.0.0.1:0 takes any free port", wrong.what()));
  }
  return listeners;
}

Descriptor listen_live(const std::string& folder) {
  constexpr int most_waiting = 16;
  if (connect_live(folder).open())
    refuse_address(folder, "a run is already running in this folder");
  ::unlink(path_in(folder).c_str());
  Descriptor socket = new_socket(SOCK_NONBLOCK);
  // Set the mode before bind(2), which on Linux gives it to the file: the file is never open to
  // other users.
  if (!socket.open() || ::fchmod(socket.get(), 0600) != 0)
    refuse_address(folder, std::strerror(errno));
  const Address address(folder);
  if (::bind(socket.get(), address.get(), Address::size()) != 0 ||
      ::listen(socket.get(), most_waiting) != 0)
    refuse_address(folder, std::strerror(errno));
  return socket;
}

Descriptor connect_live(const std::string& folder) {
  Descriptor socket = new_socket(0);
  const Address address(folder);
  if (!socket.open() || ::connect(socket.get(), address.get(), Address::size()) != 0) return {};
  return socket;
}

LiveSocketFile::~LiveSocketFile() {
  ::unlink(path_in(folder_).c_str());
}

}  // namespace gv
