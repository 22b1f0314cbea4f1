#include <algorithm>

#include "gossip/exchange/exchange.h"

// Decides which edges take part in the round that begins, and handles halves that the other end has
// passed. On a graph that changes with the round, an edge takes part in the rounds whose row
// contains it; every peer computes its own row.

namespace gv {

Task<> Exchange::begin_round() {
  for (std::size_t k = 0; k < edges_.size(); ++k) {
    if (open(k)) co_await settle_late(k, false);
    if (roster_.standing(k) == Standing::suspected && !open(k) && !self_.neighbors[k].linked)
      quarantine(k);
    if (!self_.neighbors[k].two_way) post_.drop_below(key(k, 0));
  }
  // A neighbour that gets a successor while flows are suspended begins again before the round does.
  // Otherwise a later forget() would drop, at one end only, the increments of their first exchange
  // (found under BEER).
  do {
    co_await forget();
    co_await follow_presence();
  } while (std::ranges::any_of(edges_, &Edge::anew));
  if (self_.plan.catch_up && !self_.plan.schedule)
    pace_.align([this](std::size_t k) {
      std::optional<Round> first;
      if (reachable(k) && !open(k)) first = first_round_with(k);
      return first;
    });
  if (self_.plan.schedule) look_up_row();
  choose_edges();
  for (std::size_t k = 0; flows_.runs() && k < edges_.size(); ++k)
    if (edges_[k].takes_part()) co_await restart_sums(k);
  // Such a method moves the model once for each exchange, at both ends: while the other end waits
  // for a later round of ours, only our model would move.
  if (self_.plan.schedule || !self_.plan.traffic.moves_by_flows()) co_return;
  for (std::size_t k = 0; k < edges_.size(); ++k) {
    const bool rests = flows_.gives_back(k) && !edges_[k].takes_part();
    if (rests && !flows_.suspended(k)) co_await flows_.suspend(k);
  }
}

/// Forgets neighbours that are missing or have a successor. Starts over after each, because another
/// may have got one since. The received pieces of an open exchange count first: otherwise the
/// increments of a neighbour that has left would be forgotten before its last half is added to them
/// (found under CHOCO-SGD).
Task<> Exchange::forget() {
  std::size_t k = 0;
  while (k < edges_.size()) {
    const bool missing = roster_.missing(k) && flows_.remembers(k);
    if (!missing && !edges_[k].anew) {
      ++k;
      continue;
    }
    edges_[k].anew = false;
    if (open(k)) co_await settle_late(k, false);
    co_await flows_.forget(k);
    k = 0;
  }
}

/// A method that corrects its steps by past flows (D2, gradient tracking) would move at a constant
/// velocity while no neighbour answers: the flow over an edge is the multiplier of the agreement of
/// its two ends, and acts only while they can agree. So it acts from one answer to the next,
/// because a neighbour whose messages reach us may not get ours.
Task<> Exchange::follow_presence() {
  for (std::size_t k = 0; k < edges_.size(); ++k) {
    const bool answers = roster_.here(k) && !open(k);
    if (flows_.gives_back(k) && !flows_.suspended(k) && !answers) co_await flows_.suspend(k);
  }
}

/// Looks up the edges in this round's row, and their weights.
void Exchange::look_up_row() {
  const Neighborhood row = self_.plan.schedule->row(pace_.clock(), self_.plan.id);
  for (std::size_t k = 0; k < edges_.size(); ++k) {
    edges_[k].hears = edges_[k].tells = false;
    if (!open(k)) edges_[k].weight = 0;
  }
  for (std::size_t j = 0; j < row.peers.size(); ++j) {
    const std::size_t k = *self_.find(row.peers[j]);
    edges_[k].hears = true;
    if (!open(k)) edges_[k].weight = static_cast<float>(row.weights[j]);
  }
  for (const PeerId peer : row.receivers) edges_[*self_.find(peer)].tells = true;
}

void Exchange::choose_edges() {
  const bool scheduled = self_.plan.schedule != nullptr;
  std::uint32_t degree = 0;
  bool company = false;
  expected_company_ = false;
  for (std::size_t k = 0; k < edges_.size(); ++k) {
    Edge& edge = edges_[k];
    const bool two_way = self_.neighbors[k].two_way;
    const bool there = !gone(k) && roster_.here(k);
    const bool stands = edge.hears || edge.tells;
    bool active = there && stands && self_.rules.begins(open(k));
    if (two_way) active = active && takes_number(k);
    if (active && two_way) ++degree;
    expected_company_ = expected_company_ || (two_way && stands);
    // A round without a neighbour in the row, or with one that has died, counts as well.
    company = company || (scheduled ? there : active);
    if (active) {
      edge.turn = Turn::open;
    } else {
      edge.turn = open(k) ? Turn::late : Turn::idle;
    }
  }
  pace_.begins(company);
  open_edges(degree);
  for (std::size_t k = 0; k < edges_.size(); ++k) answer(k);
}

void Exchange::open_edges(std::uint32_t degree) {
  for (std::size_t k = 0; k < edges_.size(); ++k) {
    Edge& edge = edges_[k];
    const bool active = edge.turn == Turn::open;
    edge.sharing = active && edge.tells;
    if (!active || !self_.neighbors[k].two_way) continue;
    if (edge.join.theirs() && *edge.join.theirs() < pace_.clock())
      void_half_of(k, *edge.join.theirs());
    edge.join.send(first_round_with(k));
    edge.overdue = false;
    edge.settled = 0;
    edge.degree = degree;
    edge.sent.assign(flows_.parts(), nullptr);
    if (clipping_.on()) edge.bounds.assign(flows_.parts(), 0);
  }
}

/// To the neighbour it looks as if we had left. No member of our collective operations is put
/// there, because these need all members; only the values that it sends are ignored.
void Exchange::quarantine(std::size_t k) {
  roster_.quarantine(k);
  post_.say_goodbye(self_.neighbors[k].peer, first_without_us(k));
}

/// A neighbour that has left may have sent a half that still waits for a later round of ours.
bool Exchange::gone(std::size_t k) const {
  if (roster_.quarantined(k)) return true;
  if (!self_.neighbors[k].two_way) return post_.closed(key(k, 0));
  return post_.closed(self_.neighbors[k].peer) && !edges_[k].join.theirs();
}

bool Exchange::reachable(std::size_t k) const {
  return self_.neighbors[k].two_way && roster_.here(k) && !gone(k);
}

/// Returns the first round, from the present clock on, in which the edge to k can take part: not
/// before the round of its half that waits for us, nor in one that either end has passed.
Round Exchange::first_round_with(std::size_t k) const {
  return std::max(pace_.clock(), edges_[k].join.next());
}

/// Returns whether the edge to k can take part in this round. A half that is here is answered even
/// if its number is far beyond our clock: otherwise peers that stood still together would exchange
/// only with each other, because each takes the other's clock for that of the fleet. The neighbour
/// waits for such answers, so our clock approaches its clock. Halves that are not here are waited
/// for in the order of the clock alone, so that no circle of waits can form.
bool Exchange::takes_number(std::size_t k) const {
  const Round first = first_round_with(k), clock = pace_.clock();
  const bool is_here = !self_.plan.schedule && edges_[k].join.theirs() == first;
  return first == clock || (is_here && first > clock + self_.plan.peers);
}

/// Voids the neighbour's unmatched half and sends `beyond`, for which the neighbour waits.
void Exchange::pass(std::size_t k) {
  const Round beyond = pace_.next();
  MergeJoin& join = edges_[k].join;
  post_.drop({self_.neighbors[k].peer, Kind::contribution, *join.theirs(), 0});
  void_half_of(k, *join.theirs());
  join.pass(beyond);
  if (!self_.rules.says_beyond()) return;
  post_.send(self_.neighbors[k].peer, post_.make_message(Kind::beyond, beyond, 0, nullptr));
}

/// Sends `beyond` to neighbour k if its unmatched half belongs to a round that we have passed.
void Exchange::answer(std::size_t k) {
  const MergeJoin& join = edges_[k].join;
  // An earlier half of ours that flows may be applied only at the end of this round.
  const bool unmatched = join.ours() && !join.flows();
  if (!join.theirs() || unmatched || *join.theirs() >= pace_.next()) return;
  if (!roster_.quarantined(k) && !post_.said_goodbye(k)) pass(k);
}

bool Exchange::company_waits() const {
  for (std::size_t k = 0; k < edges_.size(); ++k) {
    const MergeJoin& join = edges_[k].join;
    if (reachable(k) && (join.theirs() || join.flows())) return true;
  }
  return false;
}

void Exchange::end_round() {
  for (std::size_t k = 0; k < edges_.size(); ++k) answer(k);
}

/// Records a void half of the neighbour's. Two entries are enough, one before and one after the
/// flow under way, because each restarts the same sum.
void Exchange::void_half_of(std::size_t k, Round round) {
  std::vector<Round>& rounds = edges_[k].heard_void;
  if (!flows_.runs()) return;
  if (rounds.size() == 2) rounds.pop_back();
  rounds.push_back(round);
}

/// Halves of running traffic are increments. A void increment is missing from the receiver's sum,
/// so both ends restart that sum from zero.
Task<> Exchange::restart_sums(std::size_t k) {
  Edge& edge = edges_[k];
  if (std::exchange(edge.told_void, false)) {
    edge.told_anew = true;
    co_await flows_.restart_told(k);
  }
  const std::optional<Round> now = edge.join.ours();
  const auto before = [&](Round round) { return now && round < *now; };
  if (edge.settled == 0 && std::erase_if(edge.heard_void, before) > 0) {
    edge.heard_anew = true;
    co_await flows_.restart_heard(k);
  }
}

/// Ends the wait for the half of a round that the neighbour has passed. This may resume the
/// algorithm, so callers do it last.
void Exchange::end_wait(std::size_t k, Round round) {
  if (self_.rules.ends_wait(Interruption::passed))
    post_.drop_below({self_.neighbors[k].peer, Kind::contribution, round + 1, 0});
}

bool Exchange::hear_beyond(std::size_t k, Round number) {
  if (!self_.neighbors[k].two_way) return false;
  MergeJoin& join = edges_[k].join;
  const std::optional<Round> ours = join.ours();
  join.hear_beyond(number);
  if (!ours || !join.free()) return true;
  drop_void(k);
  end_wait(k, *ours);
  return true;
}

/// Returns whether a neighbour that sends in each of its rounds without waiting for us has ended
/// the present round: its halves for that round are here, or were never sent.
bool Exchange::has_passed_us(std::size_t k) const {
  return !self_.neighbors[k].two_way && pace_.heard(k) > pace_.clock();
}

void Exchange::hear_clock(std::size_t k) {
  if (has_passed_us(k)) post_.end_wait_for(k);
}

}  // namespace gv
