#include "peer/agent/door.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

namespace gv {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto patience = std::chrono::seconds(2);

using Found = std::unique_ptr<addrinfo, void (*)(addrinfo*)>;

/// Throws std::runtime_error with the resolver's words.
Found look_up(const std::string& name, std::uint16_t port, int flags) {
  addrinfo wanted{};
  wanted.ai_socktype = SOCK_STREAM;
  wanted.ai_flags = flags;
  addrinfo* found = nullptr;
  const int wrong = ::getaddrinfo(name.c_str(), std::to_string(port).c_str(), &wanted, &found);
  if (wrong != 0) throw std::runtime_error(::gai_strerror(wrong));
  return {found, ::freeaddrinfo};
}

std::uint16_t port_of(int socket) {
  sockaddr_storage own{};
  socklen_t bytes = sizeof own;
  if (::getsockname(socket, reinterpret_cast<sockaddr*>(&own), &bytes) != 0) return 0;
  const bool v6 = own.ss_family == AF_INET6;
  return ntohs(v6 ? reinterpret_cast<sockaddr_in6&>(own).sin6_port
                  : reinterpret_cast<sockaddr_in&>(own).sin_port);
}

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

void begin(Try& attempt, const Call& call) {
  const Found found = look_up(call.address, call.port, AI_NUMERICSERV);
  attempt.socket =
      Descriptor(::socket(found->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (::connect(attempt.socket.get(), found->ai_addr, found->ai_addrlen) == 0) return;
  if (errno != EINPROGRESS) attempt.end(std::strerror(errno));
}

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
    : nonce_(std::move(nonce)) {
  const auto fail = [&](const std::string& why) {
    throw std::runtime_error(fmt::format("cannot listen on {} port {}: {}", address, port, why));
  };
  try {
    const Found found = look_up(address, port, AI_PASSIVE | AI_NUMERICSERV);
    socket_ = Descriptor(::socket(found->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    const int on = 1;
    ::setsockopt(socket_.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (::bind(socket_.get(), found->ai_addr, found->ai_addrlen) != 0) fail(std::strerror(errno));
  } catch (const std::runtime_error& unknown) {
    if (!socket_.open()) fail(unknown.what());
    throw;
  }
  constexpr int most_waiting = 128;
  if (::listen(socket_.get(), most_waiting) != 0) fail(std::strerror(errno));
  port_ = port_of(socket_.get());
}

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
      begin(tries[k], calls[k]);
    } catch (const std::runtime_error& unknown) {
      tries[k].end(unknown.what());
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
