#include <algorithm>

#include "gossip/mutant.h"
#include "gossip/peer.h"
#include "graph/schedule/schedule_lead.h"

// Graphs that change with the round. Every peer computes its own row of the round; an edge takes
// part in the rounds whose row it is in. Which round it is, the clocks say, which run alike in a
// fleet that nothing disturbs. (A directed schedule goes by the steps: its fleets stop rather than
// get out of step.)
//
// Where faults have shifted the clocks, one end may begin an exchange in a round in which the other
// one does not: that one answers at the beginning of its next round, whatever its row says then, or
// the first would wait for a round of the schedule that may be far. So an exchange may begin in
// different rounds at its ends. Each half carries the sender's round, and both ends take the weight
// of the earlier one.

namespace gv {

/// Which edges take part in the round that begins, and with which weight.
void Peer::look_up_round() {
  const bool directed = plan.schedule->directed();
  const Neighborhood row = plan.schedule->row(directed ? step : clock_, plan.id);
  for (Edge& edge : edges_) {
    edge.hears = edge.tells = edge.two_way && owes_answer(edge);
    if (!edge.open) edge.weight = 0;
  }
  for (std::size_t k = 0; k < row.peers.size(); ++k) {
    Edge& edge = *edge_of(row.peers[k]);
    edge.hears = true;
    if (!edge.open) edge.weight = static_cast<float>(row.weights[k]);
  }
  for (const PeerId peer : row.receivers) edge_of(peer)->tells = true;
}

/// Where the rounds of the ends differ, both look into the row of the lower id, so that not even
/// rounding can part them.
float Peer::scheduled_weight(const Edge& edge, const Message& theirs) const {
  if (theirs.round == edge.began || mutant(Mutant::weight_of_own_round)) return edge.weight;
  const Step round = std::min(theirs.round, edge.began);
  const Neighborhood row = plan.schedule->row(round, std::min(plan.id, edge.peer));
  const auto at = std::ranges::find(row.peers, std::max(plan.id, edge.peer));
  if (at == row.peers.end()) return 0;
  return static_cast<float>(row.weights[static_cast<std::size_t>(at - row.peers.begin())]);
}

/// It has begun an exchange, in a round of ours that has begun as well, and we have not.
bool Peer::owes_answer(const Edge& edge) const {
  if (mutant(Mutant::answer_nobody) || !edge.two_way) return false;
  const Step next = edge.exchange + (edge.open ? 1 : 0);
  const Message* half = mailbox_.kept({edge.peer, Kind::model, next, 0});
  return half != nullptr && half->round <= clock_;
}

/// By how many rounds others may be ahead of us before we begin `round`, while nothing is wrong: a
/// random schedule may leave us out for long.
Step Peer::lead(Step round) const {
  return longest_lead(*plan.schedule, round, plan.id);
}

}  // namespace gv
