#pragma once

#include <cstddef>
#include <span>
#include <utility>

#include <sys/types.h>

namespace gv {

/// A file descriptor that closes itself.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept;
  Descriptor& operator=(Descriptor&& other) noexcept;
  ~Descriptor() { close(); }
  int get() const { return fd_; }
  bool open() const { return fd_ >= 0; }
  void close();
  /// Gives it away: whoever takes it closes it.
  int release() { return std::exchange(fd_, -1); }

 private:
  int fd_ = -1;
};

/// Reads and writes of it return at once, with EAGAIN where there is nothing to do.
void never_block(int fd);
/// A program that this process becomes or starts does not get it: it would hold connections open
/// that this process has closed, and keep its port taken.
void close_on_exec(int fd);

/// Sends bytes over a Unix socket, and with them a descriptor, as sendmsg(2) with these flags; so
/// many bytes, or -1.
ssize_t send_with_descriptor(int socket, std::span<const std::byte> bytes, int fd, int flags);
/// Receives what has come without waiting, and the descriptor if one came with it.
ssize_t receive_with_descriptor(int socket, std::span<std::byte> bytes, Descriptor& fd);

}  // namespace gv
