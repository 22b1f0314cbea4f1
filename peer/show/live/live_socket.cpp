#include "peer/show/live/live_socket.h"

#include <cerrno>
#include <cstring>
#include <stdexcept>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

namespace gv {
namespace {

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

[[noreturn]] void refuse(const std::string& folder, const std::string& why) {
  throw std::runtime_error(fmt::format("{}: {}", path_in(folder), why));
}

}  // namespace

Descriptor listen_live(const std::string& folder) {
  constexpr int most_waiting = 16;
  if (connect_live(folder).open()) refuse(folder, "a run is already running in this folder");
  ::unlink(path_in(folder).c_str());
  Descriptor socket = new_socket(SOCK_NONBLOCK);
  // Set the mode before bind(2), which on Linux gives it to the file: the file is never open to
  // other users.
  if (!socket.open() || ::fchmod(socket.get(), 0600) != 0) refuse(folder, std::strerror(errno));
  const Address address(folder);
  if (::bind(socket.get(), address.get(), Address::size()) != 0 ||
      ::listen(socket.get(), most_waiting) != 0)
    refuse(folder, std::strerror(errno));
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
