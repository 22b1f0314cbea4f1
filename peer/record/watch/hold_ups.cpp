#include "peer/record/watch/hold_ups.h"

#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "peer/fleet/fleet.h"
#include "peer/record/report/console.h"
#include "peer/record/report/screen.h"

namespace gv {
namespace {

double total(const PeerState& peer) {
  return peer.activities ? std::accumulate(peer.activities->begin(), peer.activities->end(), 0.0)
                         : 0;
}

double part(double of, double all) {
  return all > 0 ? of / all : 0;
}

/// Returns the rounds done since the fleet began or resumed.
double rounds_since(Round first, Round round) {
  return round > first ? static_cast<double>(round - first) : 0;
}

/// Returns the seconds in which a peer's messages of a round reach a neighbour; 0 if unstated.
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

std::string text_of(const SlowLink& slow, const std::vector<std::string>& hosts) {
  return fmt::format(
      "the network from {} to {} is slower than in the file: each round waits {} for messages in "
      "flight, and {} would be enough",
      peer_name(slow.from, hosts), peer_name(slow.to, hosts), seconds_text(slow.seconds),
      seconds_text(slow.promised));
}

constexpr std::size_t indent = 7;  // width of "help:  "

std::string with_help(const std::string& text, const std::string& help) {
  const std::string said = wrapped(text, indent);
  return help.empty() ? said : said + "\n" + wrapped("help:  " + help, indent);
}

}  // namespace

bool have_own_shares(const Fleet& fleet) {
  const auto unequal = [&](const PeerSpec& peer) { return peer.batch != fleet.peers[0].batch; };
  return !fleet.own_steps.empty() || std::ranges::any_of(fleet.peers, unequal);
}

std::string help_for(const Culprit& culprit, bool several_hosts, bool own_shares) {
  constexpr double clearly = 1.3;
  if (culprit.kind == Culprit::Kind::link || culprit.kind == Culprit::Kind::network)
    return several_hosts ? "`grapevine bench links FILE` measures it, and `grapevine plan FILE "
                           "--place` then finds which peers should be neighbours"
                         : "";
  if (culprit.activity == Activity::evaluate) return "a longer `evaluate.every` saves it";
  if (culprit.activity == Activity::checkpoint) return "a longer `checkpoint.every` saves it";
  if (culprit.activity == Activity::code) return "a peer with a fast network needs no codec";
  if (culprit.activity == Activity::other)
    return "`grapevine doctor` there shows how many processors it may use; end other programs on "
           "them, or give the peer less work with `train.batch`";
  const bool slow = culprit.activity == Activity::compute && culprit.slower >= clearly;
  if (!slow || own_shares) return "";
  return "`grapevine bench speeds FILE` measures each peer's speed, and `train.batch: auto` gives "
         "each peer work in proportion";
}

std::vector<PeerTimes> times_of(const std::vector<PeerState>& peers, Round first) {
  std::vector<PeerTimes> all;
  for (const PeerState& peer : peers)
    if (peer.activities)
      all.push_back({.peer = peer.id,
                     .spent = *peer.activities,
                     .waits = peer.waits,
                     .rounds = rounds_since(first, peer.round)});
  return all;
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
  const std::vector<std::string> hosts = host_names(fleet);
  std::vector<HoldUp> found;
  bool link = false;
  for (const Culprit& culprit : culprits(times_of(state.peers, state.first))) {
    link = link || culprit.kind != Culprit::Kind::peer;
    found.push_back({name_of(culprit, hosts),
                     with_help(text_of(culprit, hosts),
                               help_for(culprit, fleet.hosts.size() > 1, have_own_shares(fleet)))});
  }
  // If no link stands out, all may still be slower than the file states.
  if (const auto slow = slow_link(fleet.network, state); slow && !link)
    found.push_back({fmt::format("{} -> {}", slow->from, slow->to),
                     with_help(text_of(*slow, hosts), "`grapevine bench links FILE` measures it"),
                     {peer_name(slow->from, hosts), peer_name(slow->to, hosts)}});
  std::erase_if(found, [&](const HoldUp& one) {
    return std::ranges::any_of(found, [&](const HoldUp& other) { return one.by(other.who); });
  });
  return found;
}

std::vector<HoldUp> LastingHoldUps::after(std::vector<HoldUp> found) {
  std::set<std::string> now;
  for (const HoldUp& one : found) now.insert(one.who);
  std::erase_if(found, [&](const HoldUp& one) {
    if (std::ranges::any_of(told_, [&](const std::string& who) { return one.by(who); }))
      return true;
    return !last_.contains(one.who) || !told_.insert(one.who).second;
  });
  last_ = std::move(now);
  return found;
}

std::uint64_t Orders::give(Order::Kind kind, std::uint64_t rounds) {
  constexpr std::size_t most_waiting = 64;
  const std::lock_guard lock(mutex_);
  if (waiting_.size() >= most_waiting) return 0;
  waiting_.push_back({kind, ++given_, rounds});
  return given_;
}

std::vector<Order> Orders::take() {
  const std::lock_guard lock(mutex_);
  return std::exchange(waiting_, {});
}

}  // namespace gv
