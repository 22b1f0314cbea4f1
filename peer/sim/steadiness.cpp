#include <algorithm>

#include <fmt/format.h>

#include "peer/sim/simulation.h"

namespace gv {
namespace {

constexpr Round rounds_of_a_window = 10;
constexpr Round most_unknown = 10;  ///< rounds before a life knows its pace well

/// Returns the fleet with all peers as fast as the fastest and all links as short as the shortest;
/// for a method in which no peer waits for another, links take no time.
Fleet at_its_fastest(Fleet fleet, bool waits) {
  double speed = 0;
  for (const auto& peer : fleet.peers) speed = std::max(speed, peer.speed);
  for (auto& peer : fleet.peers) peer.speed = speed;
  NetworkSpec& network = fleet.network;
  for (const auto& [ends, link] : network.links)
    network.latency = std::min(network.latency, link.latency);
  if (!waits) network.latency = Time{0};
  network.jitter = Time{0};
  network.bandwidth = 0;
  network.links.clear();
  network.cards.clear();
  return fleet;
}

/// Returns the maximum length of a round after which a deadline leaves time for two one-way trips.
/// If rounds are longer, peers out of step after an accident need not wait for each other.
Time longest_round(const Fleet& fleet) {
  const NetworkSpec& network = fleet.network;
  Time longest = network.latency;
  for (const auto& [ends, link] : network.links) longest = std::max(longest, link.latency);
  const Time deadline = fleet.faults.deadline;
  return deadline == Time{0} ? Time::max() : deadline - 2 * (longest + network.jitter);
}

/// Returns the maximum number of ends within any window, both borders included.
Round most_within(const std::vector<Time>& ends, Time window) {
  Round most = 0;
  std::size_t first = 0;
  for (std::size_t last = 0; last < ends.size(); ++last) {
    while (ends[last] - ends[first] > window) ++first;
    most = std::max<Round>(most, last - first + 1);
  }
  return most;
}

Usual::Pace pace_of(const std::vector<Time>& ends) {
  if (ends.size() <= rounds_of_a_window) return {};
  const auto rounds = static_cast<std::int64_t>(ends.size()) - 1;
  const Time window = (ends.back() - ends.front()) * std::int64_t{rounds_of_a_window} / rounds;
  return {.window = window, .most = std::max(most_within(ends, window), rounds_of_a_window + 1)};
}

bool is_mostly_arithmetic(const Usual::Pace& pace, const Fleet& fleet) {
  return pace.window > 4 * std::int64_t{rounds_of_a_window} * fleet.network.latency;
}

Time run(const Assembly& fleet, Steadiness* told) {
  Observer observer(fleet.fleet.size(), fleet.evaluator(), {});
  SimulationOptions options;
  options.threads = 1;
  options.steadiness = told;
  return simulate(fleet, observer, options).virtual_time;
}

/// Drops ends of rounds before the window that ends now. Returns the number in the window.
Round within(std::deque<Time>& ends, Time now, Time window) {
  ends.push_back(now);
  while (now - ends.front() > window) ends.pop_front();
  return ends.size();
}

}  // namespace

Usual usual_of(const Assembly& fleet) {
  const Assembly fastest(at_its_fastest(fleet.fleet, fleet.algorithm->synchronous));
  const PeerId trainers = fleet.fleet.trainers();
  const bool asks_servers = !fleet.algorithm->synchronous && trainers < fleet.fleet.size();
  Steadiness told(fleet.fleet.size());
  run(fastest, &told);
  Usual usual;
  usual.length = run(fleet, nullptr);
  usual.longest_round = longest_round(fleet.fleet);
  usual.paces.resize(fleet.fleet.size());
  for (PeerId i = 0; i < fleet.fleet.size(); ++i) {
    const auto& record = told.lives_[i];
    const std::vector<Time> ends(record.true_time.begin(), record.true_time.end());
    const auto rounds = static_cast<std::int64_t>(std::max<std::size_t>(1, ends.size()));
    const Time round = usual.length / rounds;
    if (i < trainers) usual.round = std::max(usual.round, round);
    if (round >= usual.longest_round) continue;
    if (i < trainers && !asks_servers) usual.paces[i] = pace_of(ends);
    if (record.longest.empty() || is_mostly_arithmetic(usual.paces[i], fleet.fleet))
      usual.paces[i].times *= fleet.fleet.size() + 1;
    for (const auto& [j, longest] : record.longest) usual.pauses[{i, j}] = longest;
  }
  return usual;
}

Steadiness::Steadiness(const Usual& usual, Time calm)
    : usual_(&usual), calm_(calm), lives_(usual.paces.size()) {}

void Steadiness::ended(Life life, Time own, Time now, const Together& together) {
  Record& record = lives_[life.peer];
  record.last = now;
  if (usual_ == nullptr) {
    record.true_time.push_back(now);
    for (auto& [with, rounds] : record.since) ++rounds;
    return;
  }
  if (std::exchange(record.life, life.number) != life.number) {
    record.own.clear();
    record.true_time.clear();
  }
  const auto& [window, most, times] = usual_->paces[life.peer];
  const Round count =
      std::min(within(record.own, own, window), within(record.true_time, now, window));
  if (judges_pace_ && window > Time{0} && count > times * most + most_unknown)
    ahead_[life] = std::max(ahead_[life], count);
  if (now >= calm_) count_silence(life.peer, together);
}

void Steadiness::count_silence(PeerId peer, const Together& together) {
  const auto from = usual_->pauses.lower_bound({peer, 0});
  for (auto at = from; at != usual_->pauses.end() && at->first.first == peer; ++at) {
    const PeerId other = at->first.second;
    Round& ours = lives_[peer].since[other];
    Round& theirs = lives_[other].since[peer];
    if (!together(peer, other)) {
      ours = theirs = 0;
      continue;
    }
    ++ours;
    const Round most = std::max(most_silent(peer, other), most_silent(other, peer));
    if (std::min(ours, theirs) > most)
      silent_[std::minmax(peer, other)] =
          peer < other ? std::pair{ours, theirs} : std::pair{theirs, ours};
  }
}

/// Ends that are out of step come together within a round for each peer.
Round Steadiness::most_silent(PeerId a, PeerId b) const {
  const auto at = usual_->pauses.find({a, b});
  const Round pause = at == usual_->pauses.end() ? 0 : at->second;
  return 2 * (pause + usual_->paces.size()) + rounds_of_a_window;
}

void Steadiness::flowed(PeerId at, PeerId with) {
  Record& record = lives_[at];
  Round& since = record.since[with];
  Round& longest = record.longest[with];
  longest = std::max(longest, since);
  since = 0;
}

std::vector<std::string> Steadiness::violations() const {
  std::vector<std::string> texts;
  for (const auto& [life, rounds] : ahead_) {
    const auto& [window, most, times] = usual_->paces[life.peer];
    texts.push_back(fmt::format(
        "peer {} (life {}) runs ahead: {} rounds within {:.6g} ms, at most {} without faults",
        life.peer, life.number, rounds, 1e3 * in_seconds(window), most));
  }
  for (const auto& [ends, rounds] : silent_)
    texts.push_back(
        fmt::format("edge {}-{} is silent although nothing is wrong any more: {} and {} rounds of "
                    "its ends without a flow",
                    ends.first, ends.second, rounds.first, rounds.second));
  return texts;
}

}  // namespace gv
