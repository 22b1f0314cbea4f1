#include "peer/study/compare/critical_path.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include <fmt/format.h>

#include "gossip/algorithm.h"
#include "graph/spec/parameters.h"

namespace gv {
namespace {

constexpr std::size_t late = 3;
constexpr std::size_t other = 7;
constexpr std::uint64_t most_peers = 256;
constexpr double least_share = 0.05;

/// Walks one path backwards through the moments.
class Walk {
 public:
  explicit Walk(const std::vector<std::vector<StoredMoment>>& peers) : peers_(peers) {}

  CriticalPath run() {
    start();
    while (step()) {
    }
    std::ranges::reverse(path_.chain);
    return std::move(path_);
  }

 private:
  void start() {
    bool any = false;
    for (std::size_t i = 0; i < peers_.size(); ++i) {
      if (peers_[i].empty() || (any && peers_[i].back().end <= now_)) continue;
      any = true;
      peer_ = i;
      now_ = peers_[i].back().end;
    }
  }

  void count(std::size_t state, double begin) {
    const double seconds = std::max(0.0, now_ - begin);
    path_.seconds += seconds;
    path_.states[state] += seconds;
    path_.by_peer[peer_][state] += seconds;
    if (!path_.chain.empty() && path_.chain.back().peer == peer_)
      path_.chain.back().begin = begin;
    else
      path_.chain.push_back({peer_, begin, now_});
    now_ = begin;
    jumps_ = 0;
  }

  /// Steps back over this peer's last stay that began before now; false at the beginning.
  bool step() {
    if (peers_.empty()) return false;
    const auto& mine = peers_[peer_];
    const auto after = std::ranges::lower_bound(mine, now_, {}, &StoredMoment::begin);
    if (after == mine.begin()) return false;
    const StoredMoment& stay = *std::prev(after);
    if (stay.end < now_) count(other, stay.end);
    // The awaited peer sent at this very instant, so the path continues with what it did before.
    // The limit of jumps ends circles of peers that claim to wait for each other.
    const bool elsewhere = stay.state == late && stay.with && *stay.with < peers_.size();
    if (elsewhere && jumps_ < peers_.size() && !peers_[*stay.with].empty() &&
        peers_[*stay.with].front().begin < now_) {
      ++jumps_;
      peer_ = *stay.with;
    } else {
      count(stay.state, stay.begin);
    }
    return true;
  }

  const std::vector<std::vector<StoredMoment>>& peers_;
  std::size_t peer_ = 0;
  double now_ = 0;
  std::size_t jumps_ = 0;  ///< jumps to other peers at this instant
  CriticalPath path_;
};

/// Returns the first server. Servers follow the training peers, whose number is in the file.
std::optional<std::uint64_t> first_server_of(const StoredRun& run) {
  const AlgorithmRow* row = find_algorithm(run.algorithm, run.order);
  const auto peers = run.keys.find("peers");
  if (row == nullptr || row->serve == nullptr || peers == run.keys.end()) return std::nullopt;
  const auto trainers = as_number<std::uint64_t>(peers->second);
  return trainers && *trainers < run.peers ? trainers : std::nullopt;
}

/// Returns whether the peer is clearly longer in the state than the others. Among equals, naming
/// the peer on the path would mean nothing.
bool stands_out(const CriticalPath& path, std::uint64_t peer, std::size_t state) {
  double sum = 0;
  for (const ActivitySeconds& each : path.stretch) sum += each[state];
  const double mine = path.stretch[peer][state];
  const auto others = static_cast<double>(path.stretch.size() - 1);
  return others > 0 && mine > 1.25 * (sum - mine) / others;
}

std::string peer_name(const CriticalPath& path, std::uint64_t peer) {
  if (!path.first_server || peer < *path.first_server) return fmt::format(" of peer {}", peer);
  return peer == *path.first_server ? " of the server" : fmt::format(" of server {}", peer);
}

/// Returns the last consecutive rounds that a peer kept: [first, last].
std::pair<double, double> last_stretch(const std::vector<StoredMoment>& moments) {
  double first = moments.back().round;
  for (auto m = moments.rbegin(); m != moments.rend(); ++m) {
    if (m->round < first - 1.5) break;
    first = std::min(first, m->round);
  }
  return {first, moments.back().round};
}

/// Returns 0 for a number out of range, because a file may hold any number.
std::uint64_t round_number(double round) {
  return round >= 0 && round < 1e15 ? static_cast<std::uint64_t>(round) : 0;
}

}  // namespace

CriticalPath critical_path(const std::vector<std::vector<StoredMoment>>& peers) {
  CriticalPath path = Walk(peers).run();
  for (const auto& moments : peers) {
    ActivitySeconds& sums = path.stretch.emplace_back();
    for (const StoredMoment& m : moments) sums[m.state] += m.end - m.begin;
  }
  return path;
}

std::optional<CriticalPath> critical_path_of(const StoredRun& run) {
  if (run.peers > most_peers) return std::nullopt;
  std::vector<std::vector<StoredMoment>> peers;
  double first = 0;
  double last = HUGE_VAL;
  for (std::uint64_t i = 0; i < run.peers; ++i) {
    peers.push_back(read_peer_moments(run.path, i));
    if (peers.back().empty()) return std::nullopt;
    std::ranges::stable_sort(peers.back(), {}, &StoredMoment::begin);
    const auto [from, to] = last_stretch(peers.back());
    first = std::max(first, from);
    last = std::min(last, to);
  }
  for (auto& moments : peers)
    std::erase_if(moments,
                  [&](const StoredMoment& m) { return m.round < first || m.round > last; });
  CriticalPath path = critical_path(peers);
  path.first_server = first_server_of(run);
  path.first_round = round_number(first);
  path.last_round = round_number(last);
  return path.seconds > 0 ? std::optional(path) : std::nullopt;
}

std::string rounds_text(const CriticalPath& path) {
  if (path.first_round == path.last_round) return fmt::format("round {}", path.last_round);
  return fmt::format("rounds {} to {}", path.first_round, path.last_round);
}

std::string to_string(const CriticalPath& path) {
  std::vector<std::pair<double, std::string>> shares;
  for (std::size_t k = 0; k < path.states.size(); ++k) {
    const double share = path.states[k] / path.seconds;
    if (share < least_share) continue;
    std::string name(activity_names[k]);
    const auto most = std::ranges::max_element(path.by_peer, {},
                                               [&](const auto& peer) { return peer.second[k]; });
    if (most->second[k] > 0.5 * path.states[k] && stands_out(path, most->first, k))
      name += peer_name(path, most->first);
    shares.emplace_back(share, name);
  }
  std::ranges::stable_sort(shares, std::greater<>(), &std::pair<double, std::string>::first);
  std::string text;
  for (std::size_t k = 0; k < std::min<std::size_t>(shares.size(), 3); ++k)
    text += fmt::format("{}{:.0f} % {}", text.empty() ? "" : ", ", 100 * shares[k].first,
                        shares[k].second);
  return text;
}

std::optional<Explanation> explain(const Contender& a, const Contender& b) {
  const auto mine = summary_of(a, Measure::time);
  const auto theirs = summary_of(b, Measure::time);
  const auto my_rounds = summary_of(a, Measure::rounds);
  const auto their_rounds = summary_of(b, Measure::rounds);
  if (!mine || !theirs || !my_rounds || !their_rounds) return std::nullopt;
  if (mine->mean <= 0 || theirs->mean <= 0 || my_rounds->mean <= 0 || their_rounds->mean <= 0)
    return std::nullopt;
  const double my_round = mine->mean / my_rounds->mean;
  const double their_round = theirs->mean / their_rounds->mean;
  Explanation e;
  e.rounds = their_rounds->mean / my_rounds->mean;
  e.seconds_per_round = their_round / my_round;
  e.round_difference = their_round - my_round;
  e.by_rounds = std::abs(std::log(e.rounds)) > std::abs(std::log(e.seconds_per_round));
  const auto my_states = round_states(a);
  const auto their_states = round_states(b);
  if (!my_states || !their_states) return e;
  e.more.emplace();
  for (std::size_t k = 0; k < e.more->size(); ++k)
    (*e.more)[k] = (*their_states)[k] - (*my_states)[k];
  // A cause must have the sign of the whole difference.
  const double sign = e.round_difference < 0 ? -1 : 1;
  const auto largest =
      std::ranges::max_element(*e.more, {}, [&](double seconds) { return sign * seconds; });
  if (sign * *largest > 0.05 * std::abs(e.round_difference))
    e.state = static_cast<std::size_t>(largest - e.more->begin());
  return e;
}

std::string to_string(const Explanation& e) {
  const std::string text = fmt::format("{}x the rounds, {}x the seconds of each", digits(e.rounds),
                                       digits(e.seconds_per_round));
  if (!e.more || !e.state) return text;
  std::vector<std::size_t> order;
  for (std::size_t k = 0; k < e.more->size(); ++k) order.push_back(k);
  std::ranges::stable_sort(order, std::greater<>(),
                           [&](std::size_t k) { return std::abs((*e.more)[k]); });
  // If one state takes more and another less, the answer names both.
  const double most = std::abs((*e.more)[order[0]]);
  std::string parts;
  for (std::size_t i = 0; i < 2; ++i) {
    const double more = (*e.more)[order[i]];
    if (std::abs(more) < 0.2 * most) break;
    parts += fmt::format("{}{} {} {}", parts.empty() ? "" : ", ", activity_names[order[i]],
                         time_text(std::abs(more)), more > 0 ? "more" : "less");
  }
  return fmt::format("{} ({})", text, parts);
}

}  // namespace gv
