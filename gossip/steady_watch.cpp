#include "gossip/steady_watch.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace gv {
namespace {

/// Number of rounds in company whose mean length is the measure.
constexpr std::size_t measured = 15;
/// Rounds of both ends without a flow, of an edge that is silent: a hundred, and two for each peer
/// of the fleet, because the two ends may be in different rounds.
constexpr Round patience = 100;

}  // namespace

/// The mean of several, since halves may come in pairs with twice the pause between them.
void PaceWatch::meet(Time now) {
  met_.push_back(now);
  if (met_.size() <= measured) return;
  const Time mean = (now - met_.front()) / std::int64_t{measured};
  met_.pop_front();
  usual_ = std::min(usual_.value_or(mean), mean);
}

bool PaceWatch::too_fast() const {
  if (!usual_ || ends_.size() <= most_times * rounds) return false;
  const auto alone = static_cast<std::size_t>(std::ranges::count_if(ends_, &End::alone));
  return 2 * alone > ends_.size() && ends_.back().at - ends_.front().at < rounds * *usual_;
}

std::optional<RunAhead> PaceWatch::see(Round round, Time now, bool company) {
  ends_.push_back({now, !company});
  if (ends_.size() > most_times * rounds + 1) ends_.pop_front();
  if (company) meet(now);
  if (!too_fast()) return {};
  const bool first = !found_;
  if (first) found_ = RunAhead{.first = round, .usual = *usual_};
  ++found_->rounds;
  return first ? found_ : std::nullopt;
}

/// Counts what the algorithm has taken of others since it was last asked.
bool SteadyWatch::took_something() {
  const std::vector<std::uint64_t>& by_age = post_.staleness();
  const std::uint64_t now = std::accumulate(by_age.begin(), by_age.end(), std::uint64_t{0});
  return std::exchange(taken_, now) != now;
}

/// While no neighbour was ever away, the pace is the method's own, deadlines and schedules
/// included. When all have left, what a peer still has to do is its own: that is no pace to keep.
bool SteadyWatch::may_meet_somebody() const {
  bool outage = false;
  for (std::size_t k = 0; k < edges_.size(); ++k) outage = outage || roster_.outages(k) > 0;
  for (std::size_t k = 0; outage && k < edges_.size(); ++k) {
    const bool comes = !roster_.dead(k) || self_.plan.succession > Time{0};
    const bool left = roster_.quarantined(k) || post_.closed(self_.neighbors[k].peer);
    if (self_.neighbors[k].sends && comes && !left) return true;
  }
  return false;
}

void SteadyWatch::end_round() {
  std::optional<Neighborhood> row;
  const Setup* const setup = self_.plan.setup.get();
  const bool serves = setup != nullptr && self_.plan.id >= setup->peers;  // and has no row
  if (self_.plan.schedule && !serves) row = self_.plan.schedule->row(pace_.clock(), self_.plan.id);
  const bool needs_nobody = row && row->peers.empty() && row->receivers.empty();
  const bool company = took_something() || needs_nobody || !may_meet_somebody();
  if (const auto ahead = watch_.see(self_.round, self_.world.now(), company))
    self_.journal.note(event::RanAhead{*ahead});
  look_at_edges(row);
}

/// `row`: the partners that a schedule allows in this round; nothing if there is no schedule.
void SteadyWatch::look_at_edges(const std::optional<Neighborhood>& row) {
  for (std::size_t k = 0; k < edges_.size(); ++k) {
    const Neighbor& neighbor = self_.neighbors[k];
    if (!neighbor.two_way || post_.closed(neighbor.peer)) continue;
    Edge& edge = edges_[k];
    const ExchangeNumber number = exchange_.number(k);
    const bool flows = edge.flows || number != edge.number;
    if (number != edge.number || !roster_.here(k) || roster_.quarantined(k))
      edge = {number, flows, self_.round, 0, pace_.heard(k)};
    else if (!row || std::ranges::count(row->peers, neighbor.peer) > 0)
      ++edge.rounds;
  }
}

std::vector<SilentEdge> SteadyWatch::silent() const {
  const Round most = patience + Round{2} * self_.plan.peers;
  std::vector<SilentEdge> silent;
  for (std::size_t k = 0; k < edges_.size(); ++k) {
    const Edge& edge = edges_[k];
    if (!edge.flows || edge.rounds <= most || pace_.heard(k) <= edge.theirs + most) continue;
    silent.push_back({self_.neighbors[k].peer, edge.since, edge.rounds});
  }
  return silent;
}

}  // namespace gv
