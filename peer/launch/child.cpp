#include "peer/launch/child.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <stdexcept>
#include <utility>

#include <unistd.h>

#include "peer/launch/vector_channel.h"
#include "peer/wire/seal/peer_keys.h"

namespace gv {
namespace {

/// The most bytes that wait for an end of line: a line is made of more without one.
constexpr std::size_t longest_line = std::size_t{64} << 20;
/// Maximum number of bytes queued for a process that does not read; further lines are dropped.
constexpr std::size_t most_waiting = std::size_t{4} << 20;

}  // namespace

std::vector<std::string> LineReader::read() {
  std::array<char, 16384> buffer;
  while (fd_.open() && rest_.size() <= longest_line) {
    const ssize_t count = ::read(fd_.get(), buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno == EAGAIN) break;
    if (count <= 0) {
      fd_.close();
      if (!rest_.empty() && rest_.back() != '\n') rest_ += '\n';
      break;
    }
    rest_.append(buffer.data(), static_cast<std::size_t>(count));
  }
  std::vector<std::string> lines;
  std::size_t begin = 0;
  for (std::size_t end = rest_.find('\n'); end != std::string::npos;
       end = rest_.find('\n', begin)) {
    lines.push_back(rest_.substr(begin, end - begin));
    begin = end + 1;
  }
  rest_.erase(0, begin);
  if (rest_.size() > longest_line) lines.emplace_back().swap(rest_);
  return lines;
}

Child::Child(const std::vector<std::string>& argv) : process_(argv) {
  never_block(process_.input.get());
  never_block(process_.output.get());
  never_block(process_.errors.get());
  output_ = LineReader(std::move(process_.output));
  errors_ = LineReader(std::move(process_.errors));
}

void Child::tell(const std::string& line) {
  if (waiting_.size() + line.size() > most_waiting) return;
  waiting_ += line;
  waiting_ += '\n';
  send_waiting();
}

/// There may be a key in it: nothing of what was sent stays.
void Child::send_waiting() {
  while (!waiting_.empty() && process_.input.open()) {
    const ssize_t count = ::write(process_.input.get(), waiting_.data(), waiting_.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno == EAGAIN) return;
    if (count <= 0) process_.input.close();
    std::string rest = waiting_.substr(static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
    wipe(waiting_);
    waiting_ = std::move(rest);
  }
}

bool Child::reap() {
  if (!process_.reap()) return false;
  process_.input.close();
  return true;
}

Payload Child::take_vector(std::size_t most_bytes) {
  return receive_vector(process_.vectors.get(), most_bytes);
}

bool Child::give_vector(std::span<const float> values) {
  try {
    send_vector(process_.vectors.get(), values);
    return true;
  } catch (const std::runtime_error&) {
    return false;
  }
}

void Child::add_to(std::vector<pollfd>& fds) const {
  if (!output_.ended()) fds.push_back({output_.fd(), POLLIN, 0});
  if (!errors_.ended()) fds.push_back({errors_.fd(), POLLIN, 0});
  if (!waiting_.empty() && process_.input.open()) fds.push_back({process_.input.get(), POLLOUT, 0});
  if (running()) fds.push_back({process_.pidfd(), POLLIN, 0});
}

}  // namespace gv
