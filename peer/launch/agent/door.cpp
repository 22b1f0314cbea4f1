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

#include "peer/wire/tcp/named_socket.h"

namespace gv {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto patience = std::chrono::seconds(2);

/// One call that is on its way, at one address.
struct Try {
  std::size_t call = 0;
  std::string address;  ///< numeric; "": the name has none
  Descriptor socket{};
  std::string heard{};
  std::string why = "answers nothing: does something drop the packets (a firewall)?";
  bool open() const { return socket.open(); }
  void end(std::string reason) {
    why = std::move(reason);
    socket.close();
  }
};

std::vector<Try> tries_of(const std::vector<Call>& calls) {
  std::vector<Try> tries;
  for (std::size_t k = 0; k < calls.size(); ++k) {
    std::vector<SocketAddress> addresses;
    try {
      addresses = addresses_of(calls[k].address, calls[k].port);
    } catch (const std::runtime_error& unknown) {
      tries.push_back({.call = k, .address = ""});
      tries.back().end(unknown.what());
    }
    for (const SocketAddress& address : addresses) {
      Try& attempt = tries.emplace_back(Try{.call = k, .address = address.host()});
      try {
        attempt.socket = connecting_socket(address);
      } catch (const std::runtime_error& failed) {
        attempt.end(failed.what());
      }
    }
  }
  return tries;
}

/// A call is answered if one of its addresses has answered. Otherwise every address has a reason.
std::vector<std::string> answers_in(const std::vector<Try>& tries, std::size_t calls) {
  std::vector<std::string> answers(calls);
  std::vector<bool> answered(calls, false);
  for (const Try& attempt : tries) {
    const bool several = std::ranges::count(tries, attempt.call, &Try::call) > 1;
    std::string& text = answers[attempt.call];
    if (!text.empty()) text += "; ";
    text += several ? attempt.address + " " + attempt.why : attempt.why;
    if (attempt.why.empty()) answered[attempt.call] = true;
  }
  for (std::size_t k = 0; k < calls; ++k)
    if (answered[k]) answers[k].clear();
  return answers;
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
    : nonce_(std::move(nonce)),
      sockets_(listening_sockets(address, port)),
      port_(address_of_socket(sockets_.front().get()).port()) {}

void Door::answer() {
  for (const Descriptor& socket : sockets_)
    while (true) {
      const Descriptor caller(::accept4(socket.get(), nullptr, nullptr, SOCK_CLOEXEC));
      if (!caller.open()) break;
      // A few bytes always fit into a new connection.
      const ssize_t sent = ::send(caller.get(), nonce_.data(), nonce_.size(), MSG_NOSIGNAL);
      if (sent < 0) continue;
    }
}

std::vector<std::string> answers_of(const std::vector<Call>& calls, Door* own) {
  std::vector<Try> tries = tries_of(calls);
  const Clock::time_point until = Clock::now() + patience;
  while (std::ranges::any_of(tries, &Try::open) && Clock::now() < until) {
    std::vector<pollfd> fds;
    for (const Try& attempt : tries) fds.push_back({attempt.socket.get(), POLLIN, 0});
    if (own != nullptr) own->add_to(fds);
    ::poll(fds.data(), fds.size(), 50);
    if (own != nullptr) own->answer();
    for (std::size_t k = 0; k < tries.size(); ++k)
      if (fds[k].fd >= 0 && fds[k].revents != 0) hear(tries[k], calls[tries[k].call].nonce);
  }
  return answers_in(tries, calls.size());
}

}  // namespace gv
