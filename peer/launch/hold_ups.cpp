#include "peer/launch/hold_ups.h"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "optim/printable.h"
#include "peer/report/screen.h"
#include "peer/report/wrapped.h"

namespace gv {
namespace {

double at(const PeerState& peer, Activity activity) {
  return peer.activities ? (*peer.activities)[static_cast<std::size_t>(activity)] : 0;
}

double total(const PeerState& peer) {
  return peer.activities ? std::accumulate(peer.activities->begin(), peer.activities->end(), 0.0)
                         : 0;
}

double part(double of, double all) {
  return all > 0 ? of / all : 0;
}

constexpr double worth_saying = 0.15;  ///< of a neighbour's time

/// Who waits for it, and for how much of their time.
SlowPeer waited_for(std::span<const PeerState> peers, PeerId peer) {
  SlowPeer slow{.peer = peer};
  double late = 0;
  double all = 0;
  for (const PeerState& other : peers)
    for (const NeighborWait& wait : other.waits)
      if (wait.peer == peer && part(wait.late, total(other)) >= worth_saying) {
        ++slow.held;
        late += wait.late;
        all += total(other);
      }
  slow.share = part(late, all);
  return slow;
}

/// Of those that were done since the fleet began or went on.
double rounds_since(Round first, Round round) {
  return round > first ? static_cast<double>(round - first) : 0;
}

double gradient_seconds(const PeerState& peer, Round first) {
  return part(at(peer, Activity::compute), rounds_since(first, peer.round));
}

/// Over the median of the others.
double times_slower(std::span<const PeerState> peers, const PeerState& peer, Round first) {
  std::vector<double> others;
  for (const PeerState& other : peers)
    if (other.id != peer.id && gradient_seconds(other, first) > 0)
      others.push_back(gradient_seconds(other, first));
  if (others.empty()) return 1;
  const auto middle = others.begin() + static_cast<std::ptrdiff_t>(others.size() / 2);
  std::ranges::nth_element(others, middle);
  return gradient_seconds(peer, first) / *middle;
}

/// Seconds in which what a peer sends in a round reaches a neighbour; 0: the file does not say.
double promised_seconds(const NetworkSpec& network,
                        const FleetState& state,
                        const PeerState& from,
                        PeerId to) {
  const double done = rounds_since(state.first, from.reported);
  if (!from.sent_bytes || done == 0 || from.waits.empty()) return 0;
  const LinkSpec link = network.link(from.id, to);
  const double card = link.inside ? 0 : network.nic_bandwidth(from.id);
  const double all = static_cast<double>(*from.sent_bytes) / done;
  const double own = all / static_cast<double>(from.waits.size());
  double seconds = 0;
  if (link.bandwidth > 0) seconds = own / link.bandwidth;
  if (card > 0) seconds = std::max(seconds, all / card);
  return seconds == 0 ? 0 : seconds + in_seconds(link.latency);
}

std::string name_of(const Fleet& fleet, PeerId peer) {
  const bool one_machine = fleet.hosts.size() <= 1;
  return one_machine ? fmt::format("peer {}", peer)
                     : fmt::format("peer {} ({})", peer, printable(fleet.peers[peer].host, 40));
}

std::string text_of(const SlowPeer& slow, const Fleet& fleet) {
  constexpr double clearly = 1.3;
  std::string text = fmt::format(
      "{} holds the others up: its neighbours wait for it {:.0f} % of "
      "their time",
      name_of(fleet, slow.peer),
      100 * slow.share);
  if (slow.slower >= clearly)
    text += fmt::format(", and its gradients take {:.1f} times as long", slow.slower);
  return text;
}

std::string text_of(const SlowLink& slow, const Fleet& fleet) {
  return fmt::format(
      "from {} to {} the network is slower than the file says: {} of each round is waiting for "
      "what is on its way, and {} would be enough for all of it",
      name_of(fleet, slow.from),
      name_of(fleet, slow.to),
      seconds_text(slow.seconds),
      seconds_text(slow.promised));
}

constexpr std::size_t indent = 7;  // as of "help:  "

std::string with_help(const std::string& text, const std::string& help) {
  return wrapped(text, indent) + "\n" + wrapped("help:  " + help, indent);
}

}  // namespace

std::optional<SlowPeer> slow_peer(std::span<const PeerState> peers, Round first) {
  std::optional<SlowPeer> slowest;
  for (const PeerState& peer : peers) {
    SlowPeer slow = waited_for(peers, peer.id);
    const double own = part(at(peer, Activity::late), total(peer));
    if (slow.held == 0 || slow.share < 2 * own) continue;
    if (slowest && slow.held * slow.share <= slowest->held * slowest->share) continue;
    slow.slower = times_slower(peers, peer, first);
    slowest = slow;
  }
  return slowest;
}

std::optional<SlowLink> slow_link(const NetworkSpec& network, const FleetState& state) {
  constexpr double worth_a_line = 0.05;
  std::optional<SlowLink> slowest;
  double most = 2;
  for (const PeerState& peer : state.peers)
    for (const NeighborWait& wait : peer.waits) {
      if (wait.peer >= state.peers.size()) continue;
      const double promised = promised_seconds(network, state, state.peers[wait.peer], peer.id);
      const double seconds = part(wait.wire, rounds_since(state.first, peer.round));
      if (promised == 0 || seconds < most * promised) continue;
      if (part(wait.wire, total(peer)) < worth_a_line) continue;
      most = seconds / promised;
      slowest = {.from = wait.peer, .to = peer.id, .seconds = seconds, .promised = promised};
    }
  return slowest;
}

std::vector<HoldUp> hold_ups(const Fleet& fleet, const FleetState& state) {
  std::vector<HoldUp> found;
  if (const auto slow = slow_peer(state.peers, state.first))
    found.push_back({fmt::format("{}", slow->peer),
                     with_help(text_of(*slow, fleet),
                               "`grapevine bench speeds FILE` says what each peer can do, and "
                               "`train.batch: auto` gives each so much")});
  if (const auto slow = slow_link(fleet.network, state))
    found.push_back({fmt::format("{} -> {}", slow->from, slow->to),
                     with_help(text_of(*slow, fleet), "`grapevine bench links FILE` measures it")});
  return found;
}

}  // namespace gv
