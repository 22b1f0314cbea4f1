#include "peer/record/report/culprits.h"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "gossip/steps/attack.h"
#include "optim/printable.h"
#include "peer/record/report/console.h"
#include "peer/record/report/time_shares.h"

namespace gv {
namespace {

/// Minimum fraction of all peers' time for which a cause is named.
constexpr double worth_saying = 0.15;
/// Multiple of the others' median from which on a peer or a link stands out.
constexpr double clearly = 2.5;

using Pair = std::pair<PeerId, PeerId>;

/// Passes every wait on until it reaches its cause.
class Blame {
 public:
  explicit Blame(std::span<const PeerTimes> peers) : shares_(wait_shares(peers)) {
    std::map<Pair, double> waits;
    double all = 0;
    for (const PeerTimes& peer : peers) all += seconds_of(peer);
    for (const PeerTimes& peer : peers) {
      const PeerId who = peer.peer;
      if (!shares_.contains(who)) continue;
      const WaitShares& own = shares_.at(who);
      // A peer that ended early has waited for less of the fleet's time.
      const double weight = seconds_of(peer) / all * static_cast<double>(shares_.size());
      peers_[who];
      for (const auto& [whom, share] : own.wire) links_[std::minmax(who, whom)] += weight * share;
      for (const auto& [whom, share] : own.held) peers_[whom] += weight * share;
      for (const auto& [whom, share] : own.late)
        if (share > 0 && shares_.contains(whom)) waits[{who, whom}] += weight * share;
    }
    // A chain of waits can be as long as the longest path in the graph, and equal peers wait for
    // each other in circles: so the steps are limited.
    constexpr int longest_chain = 64;
    constexpr double hardly_any = 1e-3;
    for (int step = 0; step < longest_chain && total(waits) > hardly_any; ++step)
      waits = hand_on(waits);
  }

  /// Returns the blame by peer: fractions of one peer's time, summed over the waiting peers.
  const std::map<PeerId, double>& peers() const { return peers_; }
  const std::map<Pair, double>& links() const { return links_; }
  /// Returns the greater of the two ends' shares of time spent waiting for messages on this link.
  double wire(Pair link) const {
    return std::max(wire(link.first, link.second), wire(link.second, link.first));
  }

 private:
  double wire(PeerId who, PeerId whom) const {
    const auto own = shares_.find(who);
    if (own == shares_.end()) return 0;
    const auto share = own->second.wire.find(whom);
    return share == own->second.wire.end() ? 0 : share->second;
  }

  static double held_by(PeerId peer, const WaitShares& shares) {
    const auto held = shares.held.find(peer);
    return held == shares.held.end() ? 0 : held->second;
  }

  /// Returns how much of `whom`'s wait for messages from `next` explains why `who` waits for
  /// `whom`. Two peers that exchange models at once both wait for the link. A peer that has
  /// received before the other has begun to send waits for something else.
  double explains(PeerId who, PeerId whom, PeerId next, double wire) const {
    return next == who ? std::max(0.0, wire - this->wire(who, whom)) : wire;
  }

  static double total(const std::map<Pair, double>& waits) {
    double sum = 0;
    for (const auto& [pair, share] : waits) sum += share;
    return sum;
  }

  /// While `who` waits for `whom`, `whom` works, waits for another peer or for a message on its
  /// way. Waiting time without such a cause is dropped. A standstill already blamed for delaying
  /// messages to `who` does not count again.
  std::map<Pair, double> hand_on(const std::map<Pair, double>& waits) {
    std::map<Pair, double> further;
    for (const auto& [pair, share] : waits) {
      const auto& [who, whom] = pair;
      const WaitShares& theirs = shares_.at(whom);
      const double works =
          std::max(0.0, theirs.work - shares_.at(who).work - held_by(whom, shares_.at(who)));
      double all = works;
      for (const auto& [next, late] : theirs.late) all += next == who ? 0 : late;
      for (const auto& [next, wire] : theirs.wire) all += explains(who, whom, next, wire);
      for (const auto& [next, held] : theirs.held) all += held;
      const double part = share / std::max(all, shares_.at(who).late.at(whom));
      peers_[whom] += part * works;
      for (const auto& [next, late] : theirs.late)
        if (next != who && late > 0 && shares_.contains(next)) further[{whom, next}] += part * late;
      for (const auto& [next, wire] : theirs.wire)
        links_[std::minmax(whom, next)] += part * explains(who, whom, next, wire);
      for (const auto& [next, held] : theirs.held) peers_[next] += part * held;
    }
    return further;
  }

  std::map<PeerId, WaitShares> shares_;
  std::map<PeerId, double> peers_;
  std::map<Pair, double> links_;
};

/// Returns the activity that exceeds the others' median most, as a fraction of time.
Activity excess_of(const PeerTimes& peer, std::span<const PeerTimes> peers) {
  Activity most = Activity::compute;
  double excess = 0;
  for (std::size_t a = 0; a < activities; ++a) {
    const auto activity = static_cast<Activity>(a);
    if (activity == Activity::late || activity == Activity::wire) continue;
    std::vector<double> others;
    for (const PeerTimes& other : peers)
      if (other.peer != peer.peer && seconds_of(other) > 0)
        others.push_back(spent_on(other, activity) / seconds_of(other));
    const double beyond = spent_on(peer, activity) / seconds_of(peer) - usual_of(std::move(others));
    if (beyond <= excess) continue;
    excess = beyond;
    most = activity;
  }
  return most;
}

double gradient_seconds(const PeerTimes& peer) {
  return peer.rounds > 0 ? spent_on(peer, Activity::compute) / peer.rounds : 0;
}

double times_slower(const PeerTimes& peer, std::span<const PeerTimes> peers) {
  std::vector<double> others;
  for (const PeerTimes& other : peers)
    if (other.peer != peer.peer && gradient_seconds(other) > 0)
      others.push_back(gradient_seconds(other));
  const double usual = usual_of(std::move(others));
  return usual > 0 && gradient_seconds(peer) > 0 ? gradient_seconds(peer) / usual : 1;
}

/// Returns whether this share is well above the others' median.
template <class Key>
bool stands_out(const Key& key, const std::map<Key, double>& shares) {
  std::vector<double> others;
  for (const auto& [other, share] : shares)
    if (other != key) others.push_back(share);
  return shares.at(key) >= clearly * usual_of(std::move(others));
}

void add_peers(const Blame& blame, std::span<const PeerTimes> peers, std::vector<Culprit>& found) {
  for (const PeerTimes& peer : peers) {
    const auto share = blame.peers().find(peer.peer);
    if (share == blame.peers().end() || !stands_out(peer.peer, blame.peers())) continue;
    found.push_back({.kind = Culprit::Kind::peer,
                     .peer = peer.peer,
                     .share = share->second,
                     .activity = excess_of(peer, peers),
                     .slower = times_slower(peer, peers)});
  }
}

/// Returns the peer that is an end of all these links, if there is one.
std::optional<PeerId> end_of_all(std::span<const Pair> links) {
  if (links.empty()) return std::nullopt;
  for (const PeerId peer : {links.front().first, links.front().second})
    if (std::ranges::all_of(
            links, [&](const Pair& link) { return link.first == peer || link.second == peer; }))
      return peer;
  return std::nullopt;
}

/// Returns the peer whose links, two or more, are the only slow ones while others are not: its
/// network card or cable is slow.
std::optional<PeerId> slow_network(const Blame& blame) {
  double most = 0;
  for (const auto& [link, share] : blame.links()) most = std::max(most, blame.wire(link));
  std::vector<Pair> slow;
  for (const auto& [link, share] : blame.links())
    if (blame.wire(link) >= most / 2) slow.push_back(link);
  if (most == 0 || slow.size() < 2 || slow.size() == blame.links().size()) return std::nullopt;
  return end_of_all(slow);
}

bool is_of(const Pair& link, std::optional<PeerId> peer) {
  return peer && (link.first == *peer || link.second == *peer);
}

/// Returns whether one of the peer's links is much slower than its others, so that its network is
/// not the cause. Two links are too few: in a directed ring, only the outgoing one shows.
bool one_alone(const Blame& blame, PeerId peer) {
  std::vector<double> own;
  for (const auto& [link, share] : blame.links())
    if (is_of(link, peer)) own.push_back(share);
  std::ranges::sort(own, std::greater{});
  return own.size() > 2 && own[0] >= clearly * own[1];
}

/// Reports the links of one network together, if they stand out from the others.
void add_network(const Blame& blame, PeerId peer, std::vector<Culprit>& found) {
  Culprit whole{.kind = Culprit::Kind::network, .peer = peer};
  std::vector<double> others;
  for (const auto& [link, share] : blame.links())
    if (is_of(link, peer))
      whole.share += share;
    else
      others.push_back(share);
  const auto own = static_cast<double>(blame.links().size() - others.size());
  if (whole.share / own >= clearly * usual_of(std::move(others))) found.push_back(whole);
}

/// Returns whether this share, in units of one peer's time, is a large part of the fleet's.
bool is_large(double share, const Blame& blame) {
  return share >= worth_saying * static_cast<double>(blame.peers().size());
}

/// Returns the links for which a large part of the fleet's time is waited, except this network's.
std::vector<Pair> slow_links(const Blame& blame, std::optional<PeerId> network) {
  std::vector<Pair> slow;
  // A single link has no other to be compared with.
  if (blame.links().size() < 2) return slow;
  for (const auto& [link, share] : blame.links())
    if (!is_of(link, network) && is_large(share, blame) && stands_out(link, blame.links()))
      slow.push_back(link);
  return slow;
}

/// Returns the peer whose links are exactly `slow`. Of several messages through one card the last
/// waits for the others, so the first ones seem only slightly slow.
std::optional<PeerId> network_of(const Blame& blame, std::span<const Pair> slow) {
  const std::optional<PeerId> peer = end_of_all(slow);
  const auto of_peer = [&](const auto& link) { return is_of(link.first, peer); };
  const auto all = static_cast<std::size_t>(std::ranges::count_if(blame.links(), of_peer));
  const bool whole = slow.size() > 1 && slow.size() == all && all < blame.links().size();
  return whole ? peer : std::nullopt;
}

/// Returns whether the peer is blamed: it then sends slowly on all links, whatever its network.
bool is_blamed(const Blame& blame, PeerId peer, std::span<const Culprit> found) {
  return std::ranges::any_of(found, [&](const Culprit& culprit) {
    return culprit.peer == peer && is_large(culprit.share, blame);
  });
}

void add_links(const Blame& blame, std::vector<Culprit>& found) {
  const auto may_be = [&](std::optional<PeerId> network) {
    return network && !one_alone(blame, *network) && !is_blamed(blame, *network, found);
  };
  std::optional<PeerId> network = slow_network(blame);
  if (!may_be(network)) network.reset();
  std::vector<Pair> slow = slow_links(blame, network);
  if (const auto whole = network_of(blame, slow); !network && may_be(whole)) {
    network = whole;
    slow.clear();
  }
  for (const Pair& link : slow)
    found.push_back({.kind = Culprit::Kind::link,
                     .peer = link.first,
                     .other = link.second,
                     .share = blame.links().at(link)});
  if (network) add_network(blame, *network, found);
}

std::vector<PeerId> ids(const Setup& setup) {
  std::vector<PeerId> ids(setup.attackers);
  std::iota(ids.begin(), ids.end(), setup.peers - setup.attackers);
  return ids;
}

}  // namespace

PeerTimes times_of(PeerId peer, const LifeDone& life, double rounds) {
  PeerTimes times{.peer = peer, .rounds = rounds};
  for (std::size_t a = 0; a < activities; ++a) times.spent[a] = in_seconds(life.costs.spent.at[a]);
  for (std::size_t k = 0; k < life.neighbors.size(); ++k)
    times.waits.push_back({life.neighbors[k], in_seconds(life.waits[k].late),
                           in_seconds(life.waits[k].wire), in_seconds(life.waits[k].longest)});
  return times;
}

std::vector<Culprit> culprits(std::span<const PeerTimes> peers) {
  const Blame blame(peers);
  std::vector<Culprit> found;
  add_peers(blame, peers, found);
  add_links(blame, found);
  std::erase_if(found, [&](const Culprit& culprit) { return !is_large(culprit.share, blame); });
  for (Culprit& culprit : found) culprit.share /= static_cast<double>(blame.peers().size());
  std::ranges::stable_sort(found, std::greater{}, &Culprit::share);
  return found;
}

std::string peer_name(PeerId peer, std::span<const std::string> hosts) {
  if (peer >= hosts.size()) return fmt::format("peer {}", peer);
  return fmt::format("peer {} ({})", peer, printable(hosts[peer], 40));
}

std::string name_of(const Culprit& culprit, std::span<const std::string> hosts) {
  const std::string name = peer_name(culprit.peer, hosts);
  if (culprit.kind == Culprit::Kind::peer) return name;
  if (culprit.kind == Culprit::Kind::network) return "the network of " + name;
  return fmt::format("the link between {} and {}", name, peer_name(culprit.other, hosts));
}

std::string short_text_of(const Culprit& culprit, std::span<const std::string> hosts) {
  return fmt::format("{} holds the others up: {:.0f} % of all peers' time is waiting for it",
                     name_of(culprit, hosts), 100 * culprit.share);
}

std::string text_of(const Culprit& culprit, std::span<const std::string> hosts) {
  constexpr double clearly_slower = 1.3;
  const std::string text = short_text_of(culprit, hosts);
  if (culprit.kind != Culprit::Kind::peer) return text;
  if (culprit.activity == Activity::compute && culprit.slower >= clearly_slower)
    return text + fmt::format(", and its gradients take {:.1f} times as long", culprit.slower);
  if (culprit.activity == Activity::other)
    return text + ", while it stands still or its machine does something else";
  if (culprit.activity != Activity::compute)
    return text + fmt::format(", while it is at `{}`", name_of(culprit.activity));
  return text;
}

std::string attackers_text(const Setup& setup) {
  constexpr std::size_t indent = 11, most_ids = 8;
  if (setup.attackers == 0) return "";
  const std::vector<PeerId> liars = ids(setup);
  std::string who = fmt::format("peers {} to {}", liars.front(), liars.back());
  if (liars.size() <= most_ids)
    who = fmt::format("{} {}", liars.size() == 1 ? "peer" : "peers", fmt::join(liars, ", "));
  const AttackRow row = attack_of(setup);
  return wrapped(fmt::format("attackers  {}, by `{}` of strength {:g}: {}", who, row.kind,
                             setup.attack.strength, row.summary),
                 indent);
}

void add_attackers(Json& summary, const Setup& setup) {
  if (setup.attackers == 0) return;
  summary["attackers"] = Json{
      {"peers", ids(setup)}, {"kind", attack_of(setup).kind}, {"strength", setup.attack.strength}};
}

}  // namespace gv
