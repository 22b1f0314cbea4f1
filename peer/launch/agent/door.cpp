#include "peer/launch/agent/door.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <stdexcept>
#include <utility>

#include <sys/socket.h>
#include <unistd.h>

#include "peer/launch/agent/named_socket.h"

namespace gv {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto patience = std::chrono::seconds(2);

/// One call that is on its way.
struct Try {
  Descriptor socket;
  std::string heard;
  std::string why = "answers nothing: does something drop the packets (a firewall)?";
  bool open() const { return socket.open(); }
  void end(std::string reason) {
    why = std::move(reason);
    socket.close();
  }
};

void hear(Try& attempt, const std::string& nonce) {
  std::array<char, 64> buffer{};
  const ssize_t count = ::read(attempt.socket.get(), buffer.data(), buffer.size());
  if (count < 0 && (errno == EINTR || errno == EAGAIN)) return;
  if (count < 0) return attempt.end(std::strerror(errno));
  attempt.heard.append(buffer.data(), static_cast<std::size_t>(count));
  const bool whole = attempt.heard.size() >= nonce.size();
  if (attempt.heard == nonce) return attempt.end("");
  if (count == 0 || whole) attempt.end("another machine or program answers there");
}

}  // namespace

Door::Door(const std::string& address, std::uint16_t port, std::string nonce)
    : nonce_(std::move(nonce)),
      socket_(listening_socket(address, port)),
      port_(port_of(socket_.get())) {}

void Door::answer() {
  while (true) {
    const Descriptor caller(::accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!caller.open()) return;
    // A few bytes always fit into a new connection.
    const ssize_t sent = ::send(caller.get(), nonce_.data(), nonce_.size(), MSG_NOSIGNAL);
    if (sent < 0) continue;
  }
}

std::vector<std::string> answers_of(const std::vector<Call>& calls, Door* own) {
  std::vector<Try> tries(calls.size());
  for (std::size_t k = 0; k < calls.size(); ++k) {
    try {
      tries[k].socket = connecting_socket(calls[k].address, calls[k].port);
    } catch (const std::runtime_error& failed) {
      tries[k].end(failed.what());
    }
  }
  const Clock::time_point until = Clock::now() + patience;
  while (std::ranges::any_of(tries, &Try::open) && Clock::now() < until) {
    std::vector<pollfd> fds;
    for (const Try& attempt : tries) fds.push_back({attempt.socket.get(), POLLIN, 0});
    if (own != nullptr) own->add_to(fds);
    ::poll(fds.data(), fds.size(), 50);
    if (own != nullptr) own->answer();
    for (std::size_t k = 0; k < tries.size(); ++k)
      if (fds[k].fd >= 0 && fds[k].revents != 0) hear(tries[k], calls[k].nonce);
  }
  std::vector<std::string> answers;
  for (Try& attempt : tries) answers.push_back(std::move(attempt.why));
  return answers;
}

}  // namespace gv
