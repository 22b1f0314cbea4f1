#pragma once

#include <cstddef>
#include <span>
#include <string>
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
  /// Gives up ownership: the caller closes the descriptor.
  int release() { return std::exchange(fd_, -1); }

 private:
  int fd_ = -1;
};

/// Makes the descriptor non-blocking: reads and writes fail with EAGAIN instead of waiting.
void never_block(int fd);
/// Closes the descriptor on exec: an inherited one would keep connections open after this process
/// has closed them, and its port in use.
void close_on_exec(int fd);

/// Sends bytes and a descriptor over a Unix socket, with the flags of sendmsg(2). Returns the
/// number of bytes sent, or -1.
ssize_t send_with_descriptor(int socket, std::span<const std::byte> bytes, int fd, int flags);
/// Receives available bytes without waiting, and the descriptor if one came with them.
ssize_t receive_with_descriptor(int socket, std::span<std::byte> bytes, Descriptor& fd);

/// Waits until no other process holds the file, creating it if necessary, and holds it until the
/// returned descriptor is closed or this process ends. Throws std::runtime_error with the path if
/// the file system cannot lock.
Descriptor sole_use_of(const std::string& path);

}  // namespace gv
