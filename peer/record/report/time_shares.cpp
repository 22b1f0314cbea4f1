#include "peer/record/report/time_shares.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "optim/machine/stopwatch.h"
#include "peer/record/report/console.h"

namespace gv {
namespace {

using Shares = std::map<PeerId, WaitShares>;
using ByPeer = std::map<PeerId, double>;

double value_of(const ByPeer& values, PeerId peer) {
  const auto found = values.find(peer);
  return found == values.end() ? 0 : found->second;
}

/// Returns by how much each peer's time without an activity exceeds the others' median: it stood
/// still, as it measured by itself (World::stood_still).
ByPeer standstills(std::span<const PeerTimes> peers) {
  ByPeer stood;
  std::vector<double> all;
  for (const PeerTimes& peer : peers) {
    if (seconds_of(peer) <= 0) continue;
    stood[peer.peer] = spent_on(peer, Activity::other) / seconds_of(peer);
    all.push_back(stood[peer.peer]);
  }
  const double usual = usual_of(std::move(all));
  for (auto& [peer, share] : stood) share = std::max(0.0, share - usual);
  return stood;
}

/// Returns how long messages of `from` are on their way to most of its neighbours except `but`. A
/// slow link delays only its own messages; a neighbour on the same machine reads shared memory at
/// once.
double common_delay(const Shares& all, PeerId from, std::optional<PeerId> but = {}) {
  std::vector<double> delays;
  for (const auto& [who, own] : all)
    if (const auto wire = own.wire.find(from); wire != own.wire.end() && who != but)
      delays.push_back(wire->second);
  if (delays.empty()) return 0;
  const std::size_t middle = (delays.size() - 1) / 2;  // the smaller of the two middle ones
  std::ranges::nth_element(delays, delays.begin() + static_cast<std::ptrdiff_t>(middle));
  return delays[middle];
}

/// Finds the peers that stood still for many rounds in a row, so that one wait for them was as
/// long.
std::set<PeerId> pauses(std::span<const PeerTimes> peers, const ByPeer& stood) {
  constexpr double many = 8;
  std::map<PeerId, double> longest, seconds;
  for (const PeerTimes& peer : peers) {
    seconds[peer.peer] = seconds_of(peer);
    const double round = peer.rounds > 0 ? seconds_of(peer) / peer.rounds : seconds_of(peer);
    for (const NeighborWait& wait : peer.waits)
      if (wait.longest >= many * round)
        longest[wait.peer] = std::max(longest[wait.peer], wait.longest);
  }
  std::set<PeerId> paused;
  for (const auto& [peer, share] : stood)
    if (longest.contains(peer) && share * seconds[peer] >= longest[peer] / 2) paused.insert(peer);
  return paused;
}

/// Separates delays caused by a peer from delays caused by a link.
class Charge {
 public:
  Charge(const Shares& all, ByPeer stood) : all_(all), stood_(std::move(stood)) {
    std::vector<double> delays;
    for (const auto& [peer, own] : all) delays.push_back(common_delay(all, peer));
    usual_ = usual_of(std::move(delays));
  }

  /// Returns the share of `who`'s wait for messages of `whom` that `whom` causes.
  double by_sender(PeerId who, PeerId whom, double wire) const {
    if (!all_.contains(whom)) return 0;
    return std::min(wire, std::max(by_work(whom, who), by_stops(who, whom, wire)));
  }
  /// Returns the share that `who` causes itself, because it is too short of CPU time to receive.
  double by_receiver(PeerId who, PeerId whom, double wire) const {
    return all_.contains(whom) ? std::min(wire, by_work(who, whom)) : 0;
  }

 private:
  double works(PeerId peer) const {
    return std::max(0.0, all_.at(peer).work - value_of(stood_, peer));
  }

  /// A peer short of CPU time is slow towards all its neighbours, as they see, and works longer. A
  /// peer with a slow network waits instead.
  double by_work(PeerId slow, PeerId quick) const {
    const double longer = std::max(0.0, works(slow) - works(quick));
    return std::min(std::max(0.0, common_delay(all_, slow, quick) - usual_), longer);
  }

  /// The link's own delay shows in the opposite direction, because a process that stands still
  /// waits for nothing.
  double by_stops(PeerId who, PeerId whom, double wire) const {
    return std::clamp(wire - value_of(all_.at(whom).wire, who), 0.0, value_of(stood_, whom));
  }

  const Shares& all_;
  ByPeer stood_;
  double usual_ = 0;
};

/// A peer that is often stopped for moments would have waited for messages in these moments too.
/// Extends its wait to the same fraction of the whole time as of the time awake, but at most to the
/// wait at the other end of the link. Only the rest of its standstill delays other peers.
void wait_while_stopped(PeerId peer, double stood, const Shares& seen, WaitShares& own) {
  constexpr double least_awake = 0.05;
  const double longer = 1 / std::max(1 - stood, least_awake);
  for (auto& [from, wire] : own.wire) {
    const auto other = seen.find(from);
    if (other == seen.end()) continue;
    const double whole = std::min(longer * wire, value_of(other->second.wire, peer));
    const double more = std::clamp(whole - wire, 0.0, std::max(0.0, own.work));
    wire += more;
    own.work -= more;
  }
}

void charge(std::span<const PeerTimes> peers, Shares& all) {
  const ByPeer stood = standstills(peers);
  const std::set<PeerId> paused = pauses(peers, stood);
  const Shares seen = all;
  for (auto& [peer, own] : all)
    if (!paused.contains(peer)) wait_while_stopped(peer, value_of(stood, peer), seen, own);
  const Shares before = all;
  const Charge charge(before, stood);
  for (auto& [who, own] : all)
    for (auto& [whom, wire] : own.wire) {
      const auto take = [&](PeerId peer, double part) {
        wire -= part;
        if (part > 0) own.held[peer] += part;
      };
      take(whom, charge.by_sender(who, whom, wire));
      take(who, charge.by_receiver(who, whom, wire));
    }
}

double share(const FleetRecord& record, Activity activity) {
  const double all = in_seconds(record.costs.spent.total());
  return all == 0 ? 0 : in_seconds(record.costs.spent[activity]) / all;
}

std::string less_traffic(const Remedies& remedies) {
  if (remedies.local_steps && remedies.codec) return "try local_steps or a codec";
  if (remedies.local_steps) return "try local_steps";
  return remedies.codec ? "try a codec" : "";
}

std::string remedy_for(const Culprit& culprit, const Remedies& remedies) {
  constexpr double clearly = 1.3;
  if (culprit.kind != Culprit::Kind::peer) return less_traffic(remedies);
  if (culprit.activity == Activity::evaluate) return "try a longer `evaluate.every`";
  const bool slow = culprit.activity == Activity::compute && culprit.slower >= clearly;
  if (slow && remedies.other_stages) return "try `grapevine plan --parallel`";
  return slow && remedies.unequal_work ? "try `train.batch: auto`" : "";
}

/// Names a culprit even if there is no remedy. Equal peers that wait for each other are not to
/// blame, and there is no remedy.
std::string waiting_advice(Activity activity,
                           std::span<const Culprit> found,
                           std::span<const std::string> hosts,
                           const Remedies& remedies) {
  const auto with = [](const std::string& what, const std::string& remedy) {
    return remedy.empty() ? what : what + "; " + remedy;
  };
  if (!found.empty())
    return with("waiting, most of it for " + name_of(found.front(), hosts),
                remedy_for(found.front(), remedies));
  const std::string remedy = less_traffic(remedies);
  return activity == Activity::wire && !remedy.empty() ? with("waiting for the network", remedy)
                                                       : "";
}

std::string advice_on(Activity activity,
                      std::span<const Culprit> found,
                      std::span<const std::string> hosts,
                      const Remedies& remedies) {
  switch (activity) {
    case Activity::late:
    case Activity::wire:
      return waiting_advice(activity, found, hosts, remedies);
    case Activity::mix:
      return remedies.local_steps ? "averaging; a larger batch or local_steps need less"
                                  : "averaging; a larger batch needs less";
    case Activity::code:
      return "the codec; a fast network needs none";
    case Activity::evaluate:
      return "evaluating the models; a longer `evaluate.every` needs less";
    default:
      return "";
  }
}

}  // namespace

double seconds_of(const PeerTimes& peer) {
  return std::accumulate(peer.spent.begin(), peer.spent.end(), 0.0);
}

double spent_on(const PeerTimes& peer, Activity activity) {
  return peer.spent[static_cast<std::size_t>(activity)];
}

double usual_of(std::vector<double> values) {
  return values.empty() ? 0 : median(std::move(values));
}

std::map<PeerId, WaitShares> wait_shares(std::span<const PeerTimes> peers) {
  Shares all;
  for (const PeerTimes& peer : peers) {
    const double seconds = seconds_of(peer);
    if (seconds <= 0) continue;
    WaitShares& own = all[peer.peer];
    own.work = 1 - (spent_on(peer, Activity::late) + spent_on(peer, Activity::wire)) / seconds;
    for (const NeighborWait& wait : peer.waits) {
      own.late[wait.peer] += wait.late / seconds;
      own.wire[wait.peer] += wait.wire / seconds;
    }
  }
  charge(peers, all);
  return all;
}

std::string time_text(const FleetRecord& record) {
  constexpr std::size_t screen = 80;
  std::string text, line = "time       ";
  const std::string indent(line.size(), ' ');
  for (std::size_t a = 0; a < activities; ++a) {
    const auto activity = static_cast<Activity>(a);
    const double part = share(record, activity);
    if (part < 0.005) continue;
    const std::string next = fmt::format("{} {:.0f} %", name_of(activity), 100 * part);
    const bool first = line.size() == indent.size();
    if (!first && line.size() + next.size() + 3 > screen) {
      text += line + ",\n";
      line = indent + next;
    } else {
      line += (first ? "" : ", ") + next;
    }
  }
  return line.size() == indent.size() ? "" : text + line;
}

std::string time_advice(const FleetRecord& record,
                        std::span<const Culprit> found,
                        std::span<const std::string> hosts,
                        const Remedies& remedies) {
  constexpr double enough = 0.9;
  constexpr std::array told{Activity::late, Activity::wire, Activity::mix, Activity::code,
                            Activity::evaluate};
  if (record.costs.spent.total() == Time{0} || share(record, Activity::compute) >= enough)
    return "";
  const Activity most =
      *std::ranges::max_element(told, {}, [&](Activity each) { return share(record, each); });
  const bool waits = most == Activity::late || most == Activity::wire;
  const double part = waits && !found.empty()
                          ? share(record, Activity::late) + share(record, Activity::wire)
                          : share(record, most);
  if (part < (1 - enough) / 2) return "";
  const std::string text = advice_on(most, found, hosts, remedies);
  return text.empty() ? ""
                      : wrapped(fmt::format("hint       {:.0f} % is {}", 100 * part, text), 11);
}

}  // namespace gv
