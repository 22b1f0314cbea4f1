#include <algorithm>

#include "gossip/awaits.h"
#include "gossip/mutant.h"
#include "gossip/peer.h"

// Coming back. A peer that has lost its model takes that of a neighbour, which copies it once and
// goes on training; one that was away goes on in the round of its neighbours, so that the fleet
// ends together: round numbers work as Lamport clocks. What it brings is new to the fleet's mean.

namespace gv {

Task<> Peer::join() {
  clock_ = step;
  // Neighbours complete no round without us before we were once among them, or no more than a
  // schedule lets them.
  const Step ahead = furthest_round();
  const bool late = plan.catch_up && step == 0 && ahead > 0 && !(plan.schedule && ahead <= lead(0));
  if (plan.fetch || late) co_await fetch_model();
  joining_ = false;
  if (plan.catch_up) catch_up(0, 0);
  round_began_ = world.now();
}

Task<> Peer::fetch_model() {
  for (Edge& edge : edges_) {
    if (!edge.two_way || edge.away) continue;
    if (co_await fetch_model_of(edge)) co_return;
  }
  journal.note(event::NoModelToTake{});
}

Task<bool> Peer::fetch_model_of(Edge& edge) {
  world.send(edge.peer, message(Kind::fetch, 0, 0, nullptr));
  for (std::uint32_t part = 0; part < pieces(); ++part) {
    Receive waiting{mailbox_, {edge.peer, Kind::state, 0, part}, {}};
    const std::optional<Message> theirs = co_await waiting;
    if (!theirs || !theirs->payload) co_return false;
    const bool finite =
        all_finite(theirs->payload->floats()) || mutant(Mutant::fetch_what_is_not_finite);
    if (!finite) co_return false;
    const Range r = piece(part);
    co_await compute(static_cast<double>(r.count),
                     [&] { replica.load(Vector::x, r, *theirs->payload); });
  }
  journal.note(event::TookModel{edge.peer});
  co_return true;
}

/// All pieces are copied in one job: the model as it is between two of ours.
Task<> Peer::give_model(Edge& edge) {
  const std::uint64_t life = edge.life;
  std::vector<std::shared_ptr<Buffer>> model;
  for (std::uint32_t part = 0; part < pieces() && !joining_; ++part)
    model.push_back(pool_.acquire(piece(part).count * sizeof(float)));
  co_await compute(static_cast<double>(replica.size()), [&] {
    for (std::uint32_t part = 0; part < model.size(); ++part)
      replica.snapshot(Vector::x, piece(part), *model[part]);
  });
  if (edge.life != life) co_return;
  if (model.empty()) world.send(edge.peer, message(Kind::state, 0, 0, nullptr));
  for (std::uint32_t part = 0; part < model.size(); ++part)
    world.send(edge.peer, message(Kind::state, 0, part, model[part]));
}

void Peer::heard_round(PeerId from, Step round) {
  if (Edge* edge = edge_of(from)) edge->round = std::max(edge->round, round);
}

Step Peer::furthest_round() const {
  Step furthest = clock_;
  for (const Edge& edge : edges_)
    if (!edge.quarantined) furthest = std::max(furthest, edge.round);
  return furthest;
}

/// So far behind the others a peer still does all of its rounds, the last of them after the others
/// have left: a tenth of the run, and not too many where the run has no end. Where the rows
/// change with the round, peers of different rounds would look for each other in vain.
Step Peer::bearable_lag() const {
  constexpr Step most = 1000;
  if (plan.schedule) return 0;
  return std::max<Step>(plan.peers, std::min(plan.steps / 10, most));
}

/// Who is a few rounds behind, as peers along a chain are when one of them stops for a while, does
/// all of its rounds; who is further behind passes over what it has missed. Rounds without any
/// neighbour do not count for the others: a peer whose neighbours have all died runs ahead. Those
/// that a schedule leaves out of the row do.
void Peer::catch_up(Step tolerated, Step bearable) {
  const Step behind = furthest_round() - clock_;
  if (behind <= tolerated) return;
  if (plan.schedule && behind <= lead(clock_)) return;
  clock_ += behind;
  for (Edge& edge : edges_) edge.ahead = 0;
  const Step to = std::min(clock_, plan.steps);
  if (to <= step + bearable) return;  // it did those rounds alone, or will
  const Step passed = to - step;
  step = to;
  passed_over_ += passed;
  journal.note(event::PassedOver{passed, step});
  replica.skip_to(step * plan.local_steps);
}

/// Alone, a peer waits for nobody, and would be through with its rounds long before the others: it
/// keeps about the pace that it had in company, counted from its last round there. A little faster,
/// since who is behind passes rounds over. The pace follows the median: a round that took long says
/// little about the next.
Task<> Peer::keep_pace() {
  const auto may_be_back = [this](const Edge& e) { return e.two_way && e.away && !gone(e); };
  const Time now = world.now();
  if (in_company_) {
    const Time spent = now - round_began_;
    pace_ = pace_ == Time{0} ? spent : spent > pace_ ? pace_ * 9 / 8 : pace_ * 8 / 9;
    due_alone_ = now;
  } else if (running() && std::ranges::any_of(edges_, may_be_back)) {
    due_alone_ += pace_ * 4 / 5;
    Sleep sleep{world, due_alone_ - now};
    co_await sleep;
  }
  round_began_ = world.now();
}

}  // namespace gv
