#include "peer/wire/socket/descriptor.h"

#include <cerrno>
#include <cstring>
#include <stdexcept>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <unistd.h>

namespace gv {
namespace {

/// A message with room for one descriptor.
struct Envelope {
  explicit Envelope(std::span<std::byte> bytes) : content{bytes.data(), bytes.size()} {
    header.msg_iov = &content;
    header.msg_iovlen = 1;
    header.msg_control = room;
    header.msg_controllen = sizeof room;
  }
  iovec content;
  alignas(cmsghdr) char room[CMSG_SPACE(sizeof(int))] = {};
  msghdr header{};
};

}  // namespace

Descriptor::Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  if (this != &other) {
    close();
    fd_ = std::exchange(other.fd_, -1);
  }
  return *this;
}

void Descriptor::close() {
  if (fd_ >= 0) ::close(std::exchange(fd_, -1));
}

void never_block(int fd) {
  ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK);
}

void close_on_exec(int fd) {
  ::fcntl(fd, F_SETFD, FD_CLOEXEC);
}

ssize_t send_with_descriptor(int socket, std::span<const std::byte> bytes, int fd, int flags) {
  Envelope envelope({const_cast<std::byte*>(bytes.data()), bytes.size()});  // never written to
  cmsghdr* const control = CMSG_FIRSTHDR(&envelope.header);
  control->cmsg_level = SOL_SOCKET;
  control->cmsg_type = SCM_RIGHTS;
  control->cmsg_len = CMSG_LEN(sizeof fd);
  std::memcpy(CMSG_DATA(control), &fd, sizeof fd);
  for (;;) {
    const ssize_t sent = ::sendmsg(socket, &envelope.header, MSG_NOSIGNAL | flags);
    if (sent >= 0 || errno != EINTR) return sent;
  }
}

ssize_t receive_with_descriptor(int socket, std::span<std::byte> bytes, Descriptor& fd) {
  Envelope envelope(bytes);
  const ssize_t count = ::recvmsg(socket, &envelope.header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  const cmsghdr* const control = count < 0 ? nullptr : CMSG_FIRSTHDR(&envelope.header);
  if (control == nullptr || control->cmsg_level != SOL_SOCKET || control->cmsg_type != SCM_RIGHTS)
    return count;
  int received = -1;
  std::memcpy(&received, CMSG_DATA(control), sizeof received);
  fd = Descriptor(received);
  return count;
}

Descriptor sole_use_of(const std::string& path) {
  Descriptor lock(::open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
  int taken = -1;
  do {
    taken = lock.open() ? ::flock(lock.get(), LOCK_EX) : -1;
  } while (taken != 0 && errno == EINTR);
  if (taken != 0)
    throw std::runtime_error(fmt::format("{}: cannot be locked: {}", path, std::strerror(errno)));
  return lock;
}

}  // namespace gv
