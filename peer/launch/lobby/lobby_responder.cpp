#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <map>
#include <random>
#include <stdexcept>
#include <thread>
#include <utility>

#include <fmt/format.h>
#include <sys/eventfd.h>

#include "peer/launch/discovery/discovery.h"
#include "peer/launch/discovery/group_socket.h"

namespace gv {
namespace {

using Clock = std::chrono::steady_clock;

std::string without_interface(const std::string& address) {
  return address.substr(0, address.find('%'));
}

/// Bounds the unicast answers that a flood of questions can cause.
class AnswerBudget {
 public:
  bool spend(Clock::time_point now) {
    const double seconds = std::chrono::duration<double>(now - last_).count();
    left_ = std::min(a_second, left_ + seconds * a_second);
    last_ = now;
    if (left_ < 1) return false;
    left_ -= 1;
    return true;
  }

 private:
  static constexpr double a_second = 50;
  double left_ = a_second;
  Clock::time_point last_ = Clock::now();
};

std::uint32_t draw() {
  return static_cast<std::uint32_t>(std::random_device()());
}

}  // namespace

struct LobbyResponder::Answering {
  /// One family on one interface.
  struct Place {
    bool joined = false;
    LobbyNotice notice;     ///< with the addresses for questions from there
    LobbyQuestion waiting;  ///< records to multicast next
    std::optional<Clock::time_point> due{};
    Clock::time_point last{};      ///< time of the last multicast
    bool announces_again = false;  ///< after the next multicast
  };

  void answer_all(const std::stop_token& stop);
  void look();
  void look_at(GroupSocket& socket, const MulticastInterface& interface);
  LobbyNotice notice_for(const MulticastInterface& interface) const;
  void take(GroupSocket& socket, const GroupPacket& packet);
  void multicast_soon(Place& place, const LobbyQuestion& asked);
  Clock::time_point send_due();
  void say_goodbye();

  LobbyNotice notice;
  std::vector<std::string> interfaces;
  std::vector<GroupSocket> sockets;
  Descriptor wake;
  std::map<std::pair<bool, unsigned>, Place> places{};  ///< by family and interface
  AnswerBudget budget{};
  std::minstd_rand delays{draw()};
  std::jthread thread{};
};

void LobbyResponder::Answering::answer_all(const std::stop_token& stop) {
  constexpr auto look_every = std::chrono::seconds(2);
  Clock::time_point next_look = Clock::now();
  while (!stop.stop_requested()) {
    if (Clock::now() >= next_look) {
      look();
      next_look = Clock::now() + look_every;
    }
    wait_for(sockets, wake.get(), std::min(next_look, send_due()));
    for (GroupSocket& socket : sockets)
      for (int k = 0; k < packets_at_a_time; ++k) {
        const std::optional<GroupPacket> packet = socket.receive();
        if (!packet) break;
        take(socket, *packet);
      }
  }
  say_goodbye();
}

/// Returns the notice with the addresses of this interface first, then those of the others that
/// other machines may reach.
LobbyNotice LobbyResponder::Answering::notice_for(const MulticastInterface& interface) const {
  LobbyNotice there = notice;
  const auto add = [&](const std::string& scoped) {
    const std::string address = without_interface(scoped);
    if (std::ranges::count(there.addresses, address) == 0) there.addresses.push_back(address);
  };
  for (const bool v6 : {false, true})
    for (const InterfaceAddress& each : interface.of(v6)) add(each.address);
  for (const InterfaceAddress& each : interface_addresses())
    if (!is_link_local(each.address)) add(each.address);
  return there;
}

void LobbyResponder::Answering::look_at(GroupSocket& socket, const MulticastInterface& interface) {
  LobbyNotice there = notice_for(interface);
  Place& place = places[{socket.v6(), interface.index}];
  if (place.joined && place.notice == there) return;
  place.notice = std::move(there);
  place.joined = socket.join(interface.index);
  if (!place.joined) return;
  place.announces_again = true;  // RFC 6762, 8.3
  multicast_soon(place, LobbyQuestion::everything());
}

void LobbyResponder::Answering::look() {
  const std::vector<MulticastInterface> now = multicast_interfaces(interfaces);
  std::erase_if(places, [&](const auto& each) {
    const auto& [v6, index] = each.first;
    return std::ranges::none_of(now, [&](const MulticastInterface& interface) {
      return interface.index == index && !interface.of(v6).empty();
    });
  });
  for (GroupSocket& socket : sockets)
    for (const MulticastInterface& interface : now)
      if (!interface.of(socket.v6()).empty()) look_at(socket, interface);
}

/// Questions that were not sent to the group may come from other networks, and have no answer.
void LobbyResponder::Answering::take(GroupSocket& socket, const GroupPacket& packet) {
  const auto place = places.find({socket.v6(), packet.interface});
  if (place == places.end() || !packet.to_group) return;
  const LobbyNotice& there = place->second.notice;
  const std::optional<LobbyQuestion> asked = parse_lobby_question(packet.bytes, there);
  if (!asked) return;
  if (packet.from.port() == mdns_port) {
    multicast_soon(place->second, *asked);
  } else if (budget.spend(Clock::now())) {
    const MdnsPacket answer = lobby_answer(*asked, there, AnswerForm::unicast);
    if (!answer.empty()) socket.send(answer, packet.from, packet.interface);
  }
}

/// Draws a delay, because other lobbies answer too, and keeps a second between multicasts (RFC
/// 6762, 6). Multicasts also the answers whose querier would accept unicast ones (5.4).
void LobbyResponder::Answering::multicast_soon(Place& place, const LobbyQuestion& asked) {
  place.waiting.add(asked);
  if (place.due) return;
  const std::chrono::milliseconds delay(std::uniform_int_distribution<int>(20, 120)(delays));
  place.due = std::max(Clock::now() + delay, place.last + std::chrono::seconds(1));
}

/// Returns the time at which the next multicast is due.
Clock::time_point LobbyResponder::Answering::send_due() {
  const Clock::time_point now = Clock::now();
  Clock::time_point next = Clock::time_point::max();
  for (auto& [key, place] : places) {
    if (place.due && *place.due <= now) {
      const MdnsPacket packet = lobby_answer(place.waiting, place.notice, AnswerForm::multicast);
      for (GroupSocket& socket : sockets)
        if (socket.v6() == key.first && !packet.empty()) socket.send_to_group(packet, key.second);
      place.due.reset();
      place.waiting = {};
      place.last = now;
      if (std::exchange(place.announces_again, false))
        multicast_soon(place, LobbyQuestion::everything());
    }
    if (place.due) next = std::min(next, *place.due);
  }
  return next;
}

void LobbyResponder::Answering::say_goodbye() {
  for (const auto& [key, place] : places)
    for (GroupSocket& socket : sockets)
      if (socket.v6() == key.first) socket.send_to_group(lobby_goodbye(place.notice), key.second);
}

LobbyResponder::LobbyResponder(unsigned lobby,
                               std::uint16_t port,
                               int version,
                               std::vector<std::string> interfaces)
    : answering_(new Answering{.notice = {.lobby = lobby,
                                          .port = port,
                                          .host = lobby_host(lobby, draw()),
                                          .addresses = {},
                                          .version = version},
                               .interfaces = std::move(interfaces),
                               .sockets = open_sockets({mdns_port}),
                               .wake = Descriptor(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC))}) {
  if (answering_->sockets.empty())
    throw std::runtime_error(
        fmt::format("cannot share UDP port {}, on which other machines ask for lobbies: {}",
                    mdns_port, std::strerror(errno)));
  answering_->look();  // from now on the lobby can be found
  answering_->thread =
      std::jthread([this](const std::stop_token& stop) { answering_->answer_all(stop); });
}

LobbyResponder::~LobbyResponder() {
  answering_->thread.request_stop();
  ::eventfd_write(answering_->wake.get(), 1);
}

const std::string& LobbyResponder::host() const {
  return answering_->notice.host;
}

}  // namespace gv
