#include "peer/wire/tcp/offer.h"

#include <sys/socket.h>
#include <unistd.h>

namespace gv {

bool send_offer(int socket, const Offer& offer, int file) {
  const auto bytes = std::as_bytes(std::span(&offer, 1));
  return send_with_descriptor(socket, bytes, file, MSG_DONTWAIT) == sizeof offer;
}

std::optional<std::pair<Offer, Descriptor>> receive_offer(int socket) {
  Offer offer;
  Descriptor file;
  const auto bytes = std::as_writable_bytes(std::span(&offer, 1));
  const bool whole = receive_with_descriptor(socket, bytes, file) == sizeof offer;
  if (!whole || !file.open() || offer.version != Offer::current) return {};
  return std::pair(offer, std::move(file));
}

bool same_user(int socket) {
  ucred other{};
  socklen_t length = sizeof other;
  return ::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &other, &length) == 0 &&
         other.uid == ::geteuid();
}

}  // namespace gv
