#include <algorithm>

#include "gossip/exchange.h"

// Which edges take part in the round that begins.
//
// Graphs that change with the round: every peer computes its own row of it; an edge takes part in
// the rounds whose row it is in. Which round it is, the clocks say, which run alike in a fleet that
// nothing disturbs. (A directed schedule goes by the steps: its fleets stop rather than get out of
// step.)
//
// Where faults have shifted the clocks, one end may begin an exchange in a round in which the other
// one does not: that one answers at the beginning of its next round, whatever its row says then, or
// the first would wait for a round of the schedule that may be far. So an exchange may begin in
// different rounds at its ends. Each half carries the sender's round, and both ends take the weight
// of the earlier one.

namespace gv {

Task<> Exchange::begin_round() {
  for (std::size_t k = 0; k < edges_.size(); ++k) {
    if (open(k)) co_await settle_late(k, false);
    if (roster_.standing(k) == Standing::suspected && !open(k)) quarantine(k);
  }
  co_await forget();
  if (self_.plan.schedule) look_up_row();
  if (self_.plan.catch_up && !self_.plan.schedule)
    pace_.align([this](std::size_t k) {
      return self_.neighbors[k].two_way && !open(k) && roster_.here(k) && !gone(k);
    });
  choose_edges();
}

/// What stood between us and those that are missing, or have a successor. From the beginning after
/// each: another may get one meanwhile.
Task<> Exchange::forget() {
  std::size_t k = 0;
  while (k < edges_.size()) {
    const bool missing = roster_.missing(k) && flows_.remembers(k);
    if (!missing && !edges_[k].anew) {
      ++k;
      continue;
    }
    edges_[k].anew = false;
    co_await flows_.forget(k);
    k = 0;
  }
}

/// Which edges stand in the row, and with which weight.
void Exchange::look_up_row() {
  const bool directed = self_.plan.schedule->directed();
  const Neighborhood row =
      self_.plan.schedule->row(directed ? self_.round : pace_.clock(), self_.plan.id);
  for (std::size_t k = 0; k < edges_.size(); ++k) {
    Edge& edge = edges_[k];
    edge.hears = edge.tells = owes_answer(k);
    if (!open(k)) edge.weight = 0;
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
  for (std::size_t k = 0; k < edges_.size(); ++k) {
    Edge& edge = edges_[k];
    const bool two_way = self_.neighbors[k].two_way;
    const bool there = !gone(k) && roster_.here(k);
    bool active = there && (edge.hears || edge.tells) && self_.rules.begins(open(k));
    if (active && pace_.sits_out(k)) active = scheduled;
    if (active && two_way) ++degree;
    // A round without a neighbour in the row, or with one that has died, counts as well.
    company = company || (two_way && (scheduled ? there : active));
    if (active) {
      edge.turn = Turn::open;
    } else {
      edge.turn = open(k) ? Turn::late : Turn::idle;
    }
  }
  pace_.in_company(company);
  open_edges(degree);
}

void Exchange::open_edges(std::uint32_t degree) {
  for (std::size_t k = 0; k < edges_.size(); ++k) {
    Edge& edge = edges_[k];
    const bool active = edge.turn == Turn::open;
    edge.sharing = active && edge.tells;
    if (!active || !self_.neighbors[k].two_way) continue;
    edge.began = pace_.clock();
    edge.settled = 0;
    edge.degree = degree;
    edge.sent.assign(flows_.parts(), nullptr);
    if (clipping_.on()) edge.bounds.assign(flows_.parts(), 0);
  }
}

/// To the neighbour it looks as if we had left.
void Exchange::quarantine(std::size_t k) {
  roster_.quarantine(k);
  post_.say_goodbye(self_.neighbors[k].peer, key(k, 0).number);
}

bool Exchange::gone(std::size_t k) const {
  return roster_.quarantined(k) || post_.closed(key(k, 0));
}

bool Exchange::may_come_back() const {
  for (std::size_t k = 0; k < edges_.size(); ++k)
    if (self_.neighbors[k].two_way && !roster_.here(k) && !gone(k)) return true;
  return false;
}

/// It has begun an exchange, in a round of ours that has begun as well, and we have not.
bool Exchange::owes_answer(std::size_t k) const {
  if (!self_.neighbors[k].two_way || !self_.rules.answers()) return false;
  const std::uint64_t next = edges_[k].number.value + (open(k) ? 1 : 0);
  const Message* half = post_.kept({self_.neighbors[k].peer, Kind::contribution, next, 0});
  return half != nullptr && half->round <= pace_.clock();
}

bool Exchange::out_of_step(std::size_t k) const {
  if (!self_.neighbors[k].two_way || !roster_.here(k) || gone(k)) return false;
  return self_.plan.schedule ? owes_answer(k) : !edges_[k].takes_part();
}

bool Exchange::somebody_waits() const {
  for (std::size_t k = 0; k < edges_.size(); ++k)
    if (out_of_step(k)) return true;
  return false;
}

}  // namespace gv
