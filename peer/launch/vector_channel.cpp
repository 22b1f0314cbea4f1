#include "peer/launch/vector_channel.h"

#include <cerrno>
#include <cstring>
#include <memory>
#include <stdexcept>

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "peer/launch/child.h"

namespace gv {
namespace {

/// A message of one byte with room for one descriptor.
struct Envelope {
  Envelope() {
    header.msg_iov = &content;
    header.msg_iovlen = 1;
    header.msg_control = room;
    header.msg_controllen = sizeof room;
  }
  char byte = 0;
  iovec content{&byte, 1};
  alignas(cmsghdr) char room[CMSG_SPACE(sizeof(int))] = {};
  msghdr header{};
};

Descriptor memory_file(std::span<const float> values) {
  Descriptor file(::memfd_create("vector", MFD_CLOEXEC));
  const auto bytes = std::as_bytes(values);
  for (std::size_t done = 0; file.open() && done < bytes.size();) {
    const ssize_t count = ::write(file.get(), bytes.data() + done, bytes.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) file.close();
    if (count > 0) done += static_cast<std::size_t>(count);
  }
  if (file.open()) return file;
  throw std::runtime_error(
      fmt::format("no memory to report {} MB: {}", bytes.size() / 1'000'000, std::strerror(errno)));
}

}  // namespace

void send_vector(int socket, std::span<const float> values) {
  const Descriptor file = memory_file(values);
  Envelope envelope;
  cmsghdr* control = CMSG_FIRSTHDR(&envelope.header);
  control->cmsg_level = SOL_SOCKET;
  control->cmsg_type = SCM_RIGHTS;
  control->cmsg_len = CMSG_LEN(sizeof(int));
  const int fd = file.get();
  std::memcpy(CMSG_DATA(control), &fd, sizeof fd);
  while (::sendmsg(socket, &envelope.header, MSG_NOSIGNAL) < 0 && errno == EINTR) {
  }
}

Payload receive_vector(int socket) {
  Envelope envelope;
  if (::recvmsg(socket, &envelope.header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC) <= 0) return nullptr;
  const cmsghdr* control = CMSG_FIRSTHDR(&envelope.header);
  if (control == nullptr || control->cmsg_type != SCM_RIGHTS) return nullptr;
  int fd = -1;
  std::memcpy(&fd, CMSG_DATA(control), sizeof fd);
  const Descriptor file(fd);
  struct stat info {};
  if (::fstat(fd, &info) != 0) return nullptr;
  auto buffer = std::make_shared<Buffer>(static_cast<std::size_t>(info.st_size));
  for (std::size_t done = 0; done < buffer->size();) {
    const ssize_t count =
        ::pread(fd, buffer->data() + done, buffer->size() - done, static_cast<off_t>(done));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return nullptr;
    done += static_cast<std::size_t>(count);
  }
  return buffer;
}

}  // namespace gv
