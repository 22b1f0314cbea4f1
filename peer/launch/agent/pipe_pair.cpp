#include "peer/launch/agent/pipe_pair.h"

#include <array>
#include <cerrno>
#include <utility>

#include <unistd.h>

namespace gv {
PipePair::PipePair(Descriptor in, Descriptor out) : in_(std::move(in)), out_(std::move(out)) {
  never_block(in_.get());
  never_block(out_.get());
}

/// No more than a megabyte at a time, so that whoever sends without end keeps nobody busy.
std::string PipePair::read() {
  constexpr std::size_t most = std::size_t{1} << 20;
  std::string bytes;
  std::array<char, 65536> buffer;
  while (in_.open() && bytes.size() < most) {
    const ssize_t count = ::read(in_.get(), buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno == EAGAIN) break;
    if (count <= 0) in_.close();
    if (count > 0) bytes.append(buffer.data(), static_cast<std::size_t>(count));
  }
  return bytes;
}

void PipePair::write(std::string_view bytes) {
  if (!out_.open()) return;
  queue_ += bytes;
  flush();
}

void PipePair::flush() {
  while (out_.open() && waiting() > 0) {
    const ssize_t count = ::write(out_.get(), queue_.data() + sent_, waiting());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno == EAGAIN) break;
    if (count <= 0) out_.close();
    if (count > 0) sent_ += static_cast<std::size_t>(count);
  }
  if (out_.open() && sent_ < queue_.size() / 2) return;
  queue_.erase(0, out_.open() ? sent_ : queue_.size());
  sent_ = 0;
}

void PipePair::add_to(std::vector<pollfd>& fds) const {
  if (in_.open()) fds.push_back({in_.get(), POLLIN, 0});
  if (out_.open() && waiting() > 0) fds.push_back({out_.get(), POLLOUT, 0});
}

}  // namespace gv
