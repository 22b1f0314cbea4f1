#include <algorithm>

#include "gossip/exchange.h"

// Which edges take part in the round that begins.
//
// Graphs that change with the round: every peer computes its own row of it; an edge takes part in
// the rounds whose row it is in. Which round it is, the clocks say, which run alike in a fleet that
// nothing disturbs.
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
    if (roster_.standing(k) == Standing::suspected && !open(k) && !self_.neighbors[k].linked)
      quarantine(k);
    if (!self_.neighbors[k].two_way) post_.drop_below(key(k, 0));
  }
  // Who gets a successor while flows are suspended begins anew with it before the round does. Found
  // by the swarm under BEER: what the two had told each other in their first exchange was forgotten
  // at one end behind it.
  do {
    co_await forget();
    co_await follow_presence();
  } while (std::ranges::any_of(edges_, &Edge::anew));
  if (self_.plan.schedule) look_up_row();
  if (self_.plan.catch_up && !self_.plan.schedule)
    pace_.align([this](std::size_t k) {
      return self_.neighbors[k].two_way && !open(k) && roster_.here(k) && !gone(k);
    });
  choose_edges();
  // Such a method moves the model once for each exchange, at both ends: while we sit an edge out,
  // and its other end waits, it would move ours alone. Found by the swarm, where a peer that had
  // been cut off again and again was ten thousand times as far from the others as it had ever been.
  if (self_.plan.schedule || !self_.plan.traffic.moves_by_flows()) co_return;
  for (std::size_t k = 0; k < edges_.size(); ++k) {
    const bool rests = flows_.gives_back(k) && !edges_[k].takes_part();
    if (rests && !flows_.suspended(k)) co_await flows_.suspend(k);
  }
}

/// Forgets those that are missing, or have a successor. It goes on from the beginning after each:
/// another may get one meanwhile. What has come of an open exchange counts first. Found by the
/// swarm under CHOCO-SGD: of one that had left meanwhile, all that had been told was forgotten
/// before its last half, an increment, was added to it.
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

/// A method that corrects its steps by what has flowed (D2, gradient tracking) would move at a
/// constant velocity while nobody is there to answer it: what flowed over an edge is the multiplier
/// of the agreement of its two ends, and acts while they can agree. So it acts from one answer to
/// the next: a neighbour that we still hear may not hear us.
Task<> Exchange::follow_presence() {
  for (std::size_t k = 0; k < edges_.size(); ++k) {
    const bool answers = roster_.here(k) && !open(k);
    if (flows_.gives_back(k) && !flows_.suspended(k) && !answers) co_await flows_.suspend(k);
  }
}

/// Looks up which edges stand in the row, and with which weight.
void Exchange::look_up_row() {
  const Neighborhood row = self_.plan.schedule->row(pace_.clock(), self_.plan.id);
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
    if (two_way) active = active && !waits_in_vain(k, 0);
    if (active && pace_.sits_out(k)) active = scheduled;
    if (active && two_way) ++degree;
    // A round without a neighbour in the row, or with one that has died, counts as well.
    company = company || (scheduled ? there : active);
    if (active) {
      edge.turn = Turn::open;
    } else {
      edge.turn = open(k) ? Turn::late : Turn::idle;
    }
  }
  pace_.in_company(company);
  open_edges(degree);
  if (self_.plan.stage) leave_out_edges();
}

void Exchange::open_edges(std::uint32_t degree) {
  for (std::size_t k = 0; k < edges_.size(); ++k) {
    Edge& edge = edges_[k];
    const bool active = edge.turn == Turn::open;
    edge.sharing = active && edge.tells;
    if (!active || !self_.neighbors[k].two_way) continue;
    edge.began = pace_.clock();
    edge.opened = self_.world.now();
    edge.settled = 0;
    edge.degree = degree;
    edge.sent.assign(flows_.parts(), nullptr);
    if (clipping_.on()) edge.bounds.assign(flows_.parts(), 0);
  }
}

/// It looks to the neighbour as if we had left. So nobody of our collective operations is put
/// there, which need everybody: it is only what it sends that counts nowhere.
void Exchange::quarantine(std::size_t k) {
  roster_.quarantine(k);
  post_.say_goodbye(self_.neighbors[k].peer, key(k, 0).number);
}

bool Exchange::gone(std::size_t k) const {
  return roster_.quarantined(k) || post_.closed(key(k, 0));
}

/// Collective operations or chains bring all together.
bool Exchange::all_meet() const {
  return std::ranges::any_of(self_.neighbors,
                             [](const Neighbor& other) { return other.linked || other.chained; });
}

/// Where all are here and each owes its half of an earlier exchange, a round is one alone as well:
/// after a reconnection peers did hundreds before the first half had come over a slow link. Where
/// all meet others may wait for us meanwhile, by a way that is none of their halves.
bool Exchange::may_exchange_again() const {
  for (std::size_t k = 0; k < edges_.size(); ++k) {
    const Neighbor& neighbor = self_.neighbors[k];
    const bool left = gone(k) || (!neighbor.two_way && post_.closed(neighbor.peer));
    if (!left && (!roster_.here(k) || (open(k) && !all_meet()))) return true;
  }
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

/// Where all meet in collective operations, who is ahead of us waits for us in the next one, and
/// sends no half before: nor do we wait for it then, but go on until we are there too. So it is
/// where chains divide models: who is ahead may wait for us by way of its chain and ours. Where
/// only one end sends it sends in each of its rounds, whether we were there or not.
bool Exchange::gone_on(std::size_t k) const {
  const std::optional<Round>& without_us = edges_[k].without_us;
  if (without_us && *without_us >= pace_.clock()) return true;
  const bool awaits_us = all_meet() && !self_.rules.excuses_circles();
  return (awaits_us || !self_.neighbors[k].two_way) && pace_.heard(k) > pace_.clock();
}

void Exchange::hear_sits_out(std::size_t k, Round round) {
  std::optional<Round>& without_us = edges_[k].without_us;
  without_us = std::max(without_us.value_or(round), round);
  if (gone_on(k)) post_.hurry();
}

void Exchange::leave_out_edges() {
  for (std::size_t k = 0; k < edges_.size(); ++k) {
    Edge& edge = edges_[k];
    const bool stands = self_.neighbors[k].two_way && (edge.hears || edge.tells);
    if (!stands || edge.takes_part()) continue;
    edge.left_out = pace_.clock();
    tell_sitting_out(k);
  }
}

void Exchange::back(std::size_t k) {
  tell_sitting_out(k);
}

/// A circle of waits along chains and edges between them has one edge that one end has left out.
/// Whoever waits at the other end for a half of this round is told that none will come: its chain
/// may be what our next round waits for. Found by the swarm, where stages of two chains had left
/// out edges in opposite senses and all waited in one round.
void Exchange::tell_sitting_out(std::size_t k) {
  if (edges_[k].left_out != pace_.clock() || gone(k) || !roster_.here(k)) return;
  post_.send(self_.neighbors[k].peer, post_.letter(Kind::sits_out, pace_.clock(), 0, nullptr));
}

bool Exchange::waits_in_vain(std::size_t k, std::uint32_t part) const {
  return gone_on(k) && post_.kept(key(k, part)) == nullptr;
}

/// As long as the other half usually takes, on whatever network and beside whatever machine, and a
/// moment more. Who gave up sooner would be out of step with this neighbour, too, and so with all
/// of them in every round from then on: a fleet whose rounds took a second did ten in that time
/// after one of its peers had been killed, nearly all without an exchange, and diverged. Found by
/// half an hour of published accidents (experiments/storm). But who is late since it has waited
/// itself makes the next wait longer: where that was twice as long, a circle of peers under Aug-DGM
/// waited twice as long each time (drawn fleets). So it is bounded without a deadline as well.
Time Exchange::usual_wait(std::size_t k) const {
  Time usual = edges_[k].took.get();
  if (usual == Time{0})
    for (const Edge& edge : edges_) usual = std::max(usual, edge.took.get());
  const Time most = self_.plan.deadline > Time{0} ? self_.plan.deadline : usual_deadline;
  return std::min(usual, most) + self_.plan.hurry;
}

/// On a graph that changes with the round, who is out of step waits for our answer, and gets it at
/// the beginning of our next round: there is nothing to be gained by waiting.
std::optional<Time> Exchange::longest_wait(std::size_t k) const {
  if (gone_on(k)) return Time{0};
  for (std::size_t other = 0; other < edges_.size(); ++other)
    if (out_of_step(other)) return self_.plan.schedule ? self_.plan.hurry : usual_wait(k);
  return {};
}

}  // namespace gv
