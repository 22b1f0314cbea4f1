#include "peer/report/culprits.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "optim/printable.h"

namespace gv {
namespace {

/// Of all peers' time.
constexpr double worth_saying = 0.15;
/// So much more than the median of its like is waited for who stands out.
constexpr double clearly = 2.5;

using Pair = std::pair<PeerId, PeerId>;

double seconds_of(const PeerTimes& peer) {
  return std::accumulate(peer.spent.begin(), peer.spent.end(), 0.0);
}

double spent_on(const PeerTimes& peer, Activity activity) {
  return peer.spent[static_cast<std::size_t>(activity)];
}

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

/// One peer's time as shares of it.
struct Shares {
  double work = 0;  ///< what is no waiting
  std::map<PeerId, double> late, wire;
  /// What looks like wire, while the sender stood still or was slow with what it had to send.
  std::map<PeerId, double> stood;
};

/// How much more than the median of the others each peer was at nothing that has a name.
std::map<PeerId, double> standstills(std::span<const PeerTimes> peers) {
  std::map<PeerId, double> stood;
  for (const PeerTimes& peer : peers)
    if (seconds_of(peer) > 0) stood[peer.peer] = spent_on(peer, Activity::other) / seconds_of(peer);
  std::vector<double> all;
  for (const auto& [peer, share] : stood) all.push_back(share);
  const double usual = median(std::move(all));
  for (auto& [peer, share] : stood) share = std::max(0.0, share - usual);
  return stood;
}

/// How long what a peer sends is on its way to every neighbour alike. A slow link delays what goes
/// over it alone.
std::map<PeerId, double> least_delays(const std::map<PeerId, Shares>& all) {
  std::map<PeerId, double> least;
  for (const auto& [who, own] : all)
    for (const auto& [whom, wire] : own.wire) {
      const auto [at, first] = least.emplace(whom, wire);
      if (!first) at->second = std::min(at->second, wire);
    }
  return least;
}

/// Who stands still with what it has to send, or has too little of a processor to send it, delays
/// all of it: so much of what is on its way from it is its own. With too little of a processor it
/// receives as slowly. Whom its network holds up would wait, and neither work nor stand still.
void charge_slow_processors(std::map<PeerId, Shares>& all,
                            const std::map<PeerId, double>& standstills) {
  constexpr double alike = 2;  // waits for several at once are told apart by who came last
  const std::map<PeerId, double> delays = least_delays(all);
  std::vector<double> every;
  for (const auto& [peer, delay] : delays) every.push_back(delay);
  const double usual = median(std::move(every));
  const auto charge = [&](PeerId slow, PeerId quick, bool sends, double& wire) {
    const auto delay = delays.find(slow);
    if (delay == delays.end() || !all.contains(slow) || !all.contains(quick)) return 0.0;
    const double longer = std::max(0.0, all.at(slow).work - all.at(quick).work);
    const double by_work = std::min(std::max(0.0, delay->second - usual), longer);
    const double by_stops = sends ? std::min(alike * delay->second, standstills.at(slow)) : 0;
    const double part = std::min(wire, std::max(by_work, by_stops));
    wire -= part;
    return part;
  };
  for (auto& [who, own] : all)
    for (auto& [whom, wire] : own.wire) {
      own.stood[whom] += charge(whom, who, true, wire);
      own.stood[who] += charge(who, whom, false, wire);
    }
}

std::map<PeerId, Shares> shares_of(std::span<const PeerTimes> peers) {
  std::map<PeerId, Shares> all;
  for (const PeerTimes& peer : peers) {
    const double seconds = seconds_of(peer);
    if (seconds <= 0) continue;
    Shares& own = all[peer.peer];
    own.work = 1 - (spent_on(peer, Activity::late) + spent_on(peer, Activity::wire)) / seconds;
    for (const NeighborWait& wait : peer.waits) {
      own.late[wait.peer] += wait.late / seconds;
      own.wire[wait.peer] += wait.wire / seconds;
    }
  }
  charge_slow_processors(all, standstills(peers));
  return all;
}

/// Hands every wait on until it comes to where it began.
class Blame {
 public:
  explicit Blame(std::span<const PeerTimes> peers) : shares_(shares_of(peers)) {
    std::map<Pair, double> waits;
    for (const auto& [who, own] : shares_) {
      peers_[who];
      for (const auto& [whom, share] : own.wire) links_[std::minmax(who, whom)] += share;
      for (const auto& [whom, share] : own.stood) peers_[whom] += share;
      for (const auto& [whom, share] : own.late)
        if (share > 0 && shares_.contains(whom)) waits[{who, whom}] += share;
    }
    // A chain of waits is as long as the graph is wide; those of equals run in circles.
    constexpr int longest_chain = 64;
    constexpr double hardly_any = 1e-3;
    for (int step = 0; step < longest_chain && total(waits) > hardly_any; ++step)
      waits = hand_on(waits);
  }

  /// In shares of one peer's time, summed over the peers.
  const std::map<PeerId, double>& peers() const { return peers_; }
  const std::map<Pair, double>& links() const { return links_; }
  /// The largest share of an end's own time that it waits for what is on its way between the two.
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

  static double total(const std::map<Pair, double>& waits) {
    double sum = 0;
    for (const auto& [pair, share] : waits) sum += share;
    return sum;
  }

  /// `whom` does one of these while `who` waits for it: it works, it waits for somebody else, or
  /// for what is on its way. What none of them explains is handed on to nobody.
  std::map<Pair, double> hand_on(const std::map<Pair, double>& waits) {
    std::map<Pair, double> further;
    for (const auto& [pair, share] : waits) {
      const auto& [who, whom] = pair;
      const Shares& theirs = shares_.at(whom);
      const double works = std::max(0.0, theirs.work - shares_.at(who).work);
      double all = works;
      for (const auto& [next, late] : theirs.late) all += next == who ? 0 : late;
      for (const auto& [next, wire] : theirs.wire) all += wire;
      for (const auto& [next, stood] : theirs.stood) all += stood;
      const double part = share / std::max(all, shares_.at(who).late.at(whom));
      peers_[whom] += part * works;
      for (const auto& [next, late] : theirs.late)
        if (next != who && late > 0 && shares_.contains(next)) further[{whom, next}] += part * late;
      for (const auto& [next, wire] : theirs.wire) links_[std::minmax(whom, next)] += part * wire;
      for (const auto& [next, stood] : theirs.stood) peers_[next] += part * stood;
    }
    return further;
  }

  std::map<PeerId, Shares> shares_;
  std::map<PeerId, double> peers_;
  std::map<Pair, double> links_;
};

/// What the peer does for longer than the median of the others, as shares of their time.
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
    const double beyond = spent_on(peer, activity) / seconds_of(peer) - median(std::move(others));
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
  const double usual = median(std::move(others));
  return usual > 0 && gradient_seconds(peer) > 0 ? gradient_seconds(peer) / usual : 1;
}

void add_peers(const Blame& blame, std::span<const PeerTimes> peers, std::vector<Culprit>& found) {
  std::vector<double> all;
  for (const auto& [peer, share] : blame.peers()) all.push_back(share);
  const double usual = median(std::move(all));
  for (const PeerTimes& peer : peers) {
    const auto share = blame.peers().find(peer.peer);
    if (share == blame.peers().end() || share->second < clearly * usual) continue;
    found.push_back({.kind = Culprit::Kind::peer,
                     .peer = peer.peer,
                     .share = share->second,
                     .activity = excess_of(peer, peers),
                     .slower = times_slower(peer, peers)});
  }
}

/// The peer at whose links alone messages take long, at two of them or more, while there are others
/// where they do not: its network card, or its cable.
std::optional<PeerId> slow_network(const Blame& blame) {
  double most = 0;
  for (const auto& [link, share] : blame.links()) most = std::max(most, blame.wire(link));
  std::vector<Pair> slow;
  for (const auto& [link, share] : blame.links())
    if (blame.wire(link) >= most / 2) slow.push_back(link);
  if (most == 0 || slow.size() < 2 || slow.size() == blame.links().size()) return std::nullopt;
  for (const PeerId peer : {slow.front().first, slow.front().second})
    if (std::ranges::all_of(
            slow, [&](const Pair& link) { return link.first == peer || link.second == peer; }))
      return peer;
  return std::nullopt;
}

bool is_of(const Pair& link, std::optional<PeerId> peer) {
  return peer && (link.first == *peer || link.second == *peer);
}

/// The links of one network are named together, where they stand out from the others.
void add_network(const Blame& blame, PeerId peer, std::vector<Culprit>& found) {
  Culprit whole{.kind = Culprit::Kind::network, .peer = peer};
  std::vector<double> others;
  for (const auto& [link, share] : blame.links())
    if (is_of(link, peer))
      whole.share += share;
    else
      others.push_back(share);
  const auto own = static_cast<double>(blame.links().size() - others.size());
  if (whole.share / own >= clearly * median(std::move(others))) found.push_back(whole);
}

void add_links(const Blame& blame, std::vector<Culprit>& found) {
  const std::optional<PeerId> network = slow_network(blame);
  std::vector<double> all;
  for (const auto& [link, share] : blame.links()) all.push_back(share);
  const double usual = median(std::move(all));
  for (const auto& [link, share] : blame.links()) {
    // Of a single link nobody can say that it is slower than the others.
    if (is_of(link, network) || blame.links().size() < 2 || share < clearly * usual) continue;
    found.push_back(
        {.kind = Culprit::Kind::link, .peer = link.first, .other = link.second, .share = share});
  }
  if (network) add_network(blame, *network, found);
}

}  // namespace

PeerTimes times_of(PeerId peer, const LifeDone& life, double rounds) {
  PeerTimes times{.peer = peer, .rounds = rounds};
  for (std::size_t a = 0; a < activities; ++a) times.spent[a] = in_seconds(life.spent.at[a]);
  for (std::size_t k = 0; k < life.neighbors.size(); ++k)
    times.waits.push_back(
        {life.neighbors[k], in_seconds(life.waits[k].late), in_seconds(life.waits[k].wire)});
  return times;
}

std::vector<Culprit> culprits(std::span<const PeerTimes> peers) {
  const Blame blame(peers);
  std::vector<Culprit> found;
  add_peers(blame, peers, found);
  add_links(blame, found);
  for (Culprit& culprit : found) culprit.share /= static_cast<double>(blame.peers().size());
  std::erase_if(found, [](const Culprit& culprit) { return culprit.share < worth_saying; });
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
                     name_of(culprit, hosts),
                     100 * culprit.share);
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

}  // namespace gv
