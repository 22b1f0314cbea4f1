#include "peer/launch/discovery/discovery.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <map>
#include <random>
#include <utility>

#include <fmt/format.h>
#include <net/if.h>

#include "peer/fleet/net_address.h"
#include "peer/launch/discovery/group_socket.h"
#include "peer/launch/discovery/mdns.h"

namespace gv {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::size_t most_lobbies = 64;     // that one search distinguishes
constexpr std::size_t most_candidates = 32;  // addresses of one lobby

/// One search for lobbies.
class Search {
 public:
  Search(std::optional<unsigned> lobby, const std::vector<std::string>& interfaces)
      : lobby_(lobby), names_(interfaces) {}

  void ask();
  /// Takes the answers that come until then, or at least those of one wake-up.
  void listen(Clock::time_point until);
  bool has_found() const { return !found_.empty(); }
  std::vector<FoundLobby> result() const;

 private:
  struct Answers {
    FoundLobby lobby;
    std::map<std::string, int> ranks{};  ///< by address; the lowest rank is the likeliest
  };

  void take(const GroupPacket& packet, const std::vector<LobbyNotice>& heard);
  void add_addresses(Answers& answers, const LobbyNotice& heard, const GroupPacket& packet) const;
  bool is_own(const std::string& address) const;
  bool is_near(const std::string& address) const;

  std::optional<unsigned> lobby_;
  std::vector<std::string> names_;
  std::uint16_t id_ = static_cast<std::uint16_t>(std::random_device()());
  std::vector<GroupSocket> sockets_ = open_sockets({0, mdns_port});
  std::vector<MulticastInterface> interfaces_;
  std::map<std::pair<bool, unsigned>, bool> joined_;  ///< family and interface
  bool asks_again_ = false;
  std::map<std::string, Answers> found_;  ///< by host
};

void Search::ask() {
  interfaces_ = multicast_interfaces(names_);
  for (const MulticastInterface& interface : interfaces_)
    for (GroupSocket& socket : sockets_) {
      if (!socket.shared()) {
        socket.send_to_group(lobby_question(id_), interface.index);
        continue;
      }
      bool& joined = joined_[{socket.v6(), interface.index}];
      joined = joined || socket.join(interface.index);
      if (asks_again_) socket.send_to_group(lobby_question(0), interface.index);
    }
  asks_again_ = true;
}

void Search::listen(Clock::time_point until) {
  wait_for(sockets_, -1, until);
  for (GroupSocket& socket : sockets_)
    for (int k = 0; k < packets_at_a_time; ++k) {
      const std::optional<GroupPacket> packet = socket.receive();
      if (!packet) break;
      if (packet->hops != link_hops || packet->to_group != socket.shared()) continue;
      const auto id = socket.shared() ? std::nullopt : std::optional(id_);
      take(*packet, parse_lobby_answer(packet->bytes, id));
    }
}

void Search::take(const GroupPacket& packet, const std::vector<LobbyNotice>& heard) {
  if (std::ranges::count(interfaces_, packet.interface, &MulticastInterface::index) == 0) return;
  for (const LobbyNotice& each : heard) {
    if (lobby_ && each.lobby != *lobby_) continue;
    if (found_.size() == most_lobbies && !found_.contains(each.host)) continue;
    Answers& answers = found_[each.host];
    if (answers.lobby.notice.host.empty()) answers.lobby.notice = each;
    add_addresses(answers, each, packet);
  }
}

bool Search::is_own(const std::string& address) const {
  return std::ranges::any_of(interfaces_, [&](const MulticastInterface& each) {
    return std::ranges::count(each.v4, address, &InterfaceAddress::address) > 0 ||
           std::ranges::count(each.v6, address, &InterfaceAddress::address) > 0;
  });
}

bool Search::is_near(const std::string& address) const {
  const auto together = [&](const InterfaceAddress& own) {
    return same_network(own.address, address, own.prefix);
  };
  return std::ranges::any_of(interfaces_, [&](const MulticastInterface& each) {
    return std::ranges::any_of(each.v4, together) || std::ranges::any_of(each.v6, together);
  });
}

/// Adds the answer's source, and what it lists. Another machine's address that is ours too belongs
/// to a bridge that each of both machines has.
void Search::add_addresses(Answers& answers,
                           const LobbyNotice& heard,
                           const GroupPacket& packet) const {
  const auto add = [&](const std::string& address, int rank) {
    std::map<std::string, int>& ranks = answers.ranks;
    if (ranks.size() == most_candidates && !ranks.contains(address)) return;
    const auto [known, is_new] = ranks.try_emplace(address, rank);
    known->second = std::min(known->second, rank);
  };
  const std::string source = packet.from.host();
  const bool is_here = is_loopback(source) || is_own(source);
  answers.lobby.is_here = answers.lobby.is_here || is_here;
  add(source, is_loopback(source) ? 0 : is_link_local(source) ? 4 : 1);
  std::array<char, IF_NAMESIZE> name{};
  const bool named = ::if_indextoname(packet.interface, name.data()) != nullptr;
  for (const std::string& each : heard.addresses) {
    const bool v6 = each.find(':') != std::string::npos;
    if (is_link_local(each) && v6 && named)
      add(fmt::format("{}%{}", each, name.data()), 4);
    else if (is_here || (!is_loopback(each) && !is_own(each)))
      add(each, is_link_local(each) ? 4 : is_near(each) ? 2 : 3);
  }
}

std::vector<FoundLobby> Search::result() const {
  std::vector<FoundLobby> all;
  for (const auto& [host, answers] : found_) {
    all.push_back(answers.lobby);
    std::vector<std::string>& addresses = all.back().addresses;
    for (const auto& [address, rank] : answers.ranks) addresses.push_back(address);
    std::ranges::stable_sort(addresses, {}, [&](const std::string& address) {
      return std::pair(answers.ranks.at(address), address.find(':') != std::string::npos);
    });
  }
  return all;
}

}  // namespace

std::vector<FoundLobby> find_lobbies(std::optional<unsigned> lobby,
                                     Time patience,
                                     const std::function<bool()>& stopped,
                                     const std::vector<std::string>& interfaces) {
  constexpr std::chrono::milliseconds settling(300), look(50);
  Search search(lobby, interfaces);
  Clock::time_point until = Clock::now() + patience;
  Clock::time_point next = Clock::now();
  std::chrono::seconds pause(1);
  bool settles = false;
  while (Clock::now() < until && !(stopped && stopped())) {
    if (Clock::now() >= next) {
      search.ask();
      next += pause;
      pause *= 2;
    }
    search.listen(std::min({until, next, Clock::now() + look}));
    if (settles || !lobby || !search.has_found()) continue;
    settles = true;
    until = std::min(until, Clock::now() + settling);
  }
  return search.result();
}

}  // namespace gv
