#include <algorithm>
#include <utility>

#include "gossip/awaits.h"
#include "gossip/mutant.h"
#include "gossip/peer.h"
#include "optim/check.h"

// Exchanges. Averaging is written as flows, x_i += w (x_j - x_i), and the mean of the fleet is kept
// when both ends of an edge apply opposite flows exactly once. The optimistic protocol: both ends
// send at once, and each applies its half as soon as the other's vector of the same exchange is
// there, against the vector that it sent itself. Nothing is ever voided by one side: a neighbour
// that is away or late leaves the exchange open, its half is applied late, and no other exchange
// with it begins before (at most one open on each edge, so memory is bounded). The session
// (session.h) delivers every message exactly once while both ends live, whatever becomes of
// connections. The other protocol, in which one end decides and tells, costs half a round trip more
// before the decided half may be applied, on every edge and in every round.
//
// What each end does follows from what both of them know: the two vectors, and the two degrees.
// The weight of a live edge is min(1 / (1 + d_i), 1 / (1 + d_j)), of the degrees that were sent
// with this exchange. An element of which either value is not finite flows at neither end.
//
// A neighbour that has died takes its half with it. What we have applied of the open exchange
// stays, the rest of it counts no more: the survivors' mean changes by what the dead one held,
// which no protocol can give back, and by nothing else. Its successor begins a conversation of its
// own, with exchange 0. So a checkpoint needs to hold no exchange.

namespace gv {
namespace {

/// How far sending runs ahead of mixing where nothing else is to be done in between. Measured on a
/// ring of 4 and of 8 over loopback, 25.6e6 floats: 1 to 4 alike, 16 a tenth to a fifth slower, no
/// limit twice as slow. 2 MiB on their way also fill a link of 1 Gbit/s and 16 ms.
constexpr std::uint32_t pieces_ahead = 4;

double vector_flops(Range r, std::size_t passes) {
  return 2.0 * static_cast<double>(r.count) * static_cast<double>(passes);
}

}  // namespace

float Peer::weight(const Edge& edge, const Message& theirs) const {
  if (!edge.two_way) return edge.weight;
  if (plan.schedule) return scheduled_weight(edge, theirs);
  if (!plan.live_degrees) return edge.weight;
  if (mutant(Mutant::own_degree)) return static_cast<float>(1.0 / (1 + edge.degree));
  std::uint32_t degree = edge.degree;
  if (mutant(Mutant::degree_of_now))
    degree = static_cast<std::uint32_t>(std::ranges::count_if(edges_, &Edge::active));
  return static_cast<float>(1.0 / (1 + std::max(degree, theirs.degree)));
}

/// One more piece of the open exchange is applied, or about to be.
void Peer::settle(Edge& edge, const Message& theirs) {
  if (!edge.two_way) return;
  Payload& ours = edge.sent[edge.settled];
  journal.settled(
      {edge.peer, edge.exchange, edge.settled, weight(edge, theirs), ours, theirs.payload});
  ours.reset();
  if (edge.settled == 0 && theirs.round > edge.began) edge.ahead = theirs.round - edge.began;
  if (++edge.settled < pieces()) return;
  edge.open = false;
  ++edge.exchange;
}

/// It left before this exchange, or died: what is left of it counts at neither end.
void Peer::drop(Edge& edge) {
  edge.open = false;
  edge.sent.clear();
}

bool Peer::gone(const Edge& edge) const {
  return edge.quarantined || mailbox_.closed(edge.peer, number(edge));
}

/// After faults the two ends of an edge may exchange in rounds of different number. Each edge by
/// itself would not mind; but around a cycle such shifts add up, and then every round waits for
/// parts of earlier ones (a ring of 8 whose shifts sum to 4 keeps half of its speed). So who is
/// behind leaves the edge out for as many rounds as it is behind, while the other end waits; and
/// who is behind all of its neighbours has nobody to do those rounds with, and passes to theirs.
void Peer::align() {
  constexpr auto takes_part = [](const Edge& e) { return e.two_way && !e.open && !e.away; };
  std::optional<Step> least;
  for (Edge& edge : edges_) {
    if (edge.ahead > plan.peers) edge.ahead = 0;  // catch_up() sees to those
    if (takes_part(edge) && !gone(edge)) least = std::min(least.value_or(edge.ahead), edge.ahead);
  }
  clock_ += least.value_or(0);
  for (Edge& edge : edges_) edge.ahead -= std::min(edge.ahead, least.value_or(0));
}

Task<> Peer::begin_exchanges() {
  for (Edge& edge : edges_) {
    if (edge.open) co_await settle_late(edge, false);
    if (edge.strikes >= plan.strikes && !edge.open && !edge.quarantined) quarantine(edge);
  }
  if (plan.schedule) look_up_round();
  if (plan.catch_up && !plan.schedule) align();
  std::uint32_t degree = 0;
  in_company_ = false;
  for (Edge& edge : edges_) {
    const bool there = !gone(edge) && !edge.away;
    edge.active =
        there && (edge.hears || edge.tells) && (!edge.open || mutant(Mutant::next_before_settled));
    if (edge.ahead > 0 && edge.active) {
      edge.active = plan.schedule != nullptr;
      --edge.ahead;
    }
    if (edge.active && edge.two_way) ++degree;
    // A round without a neighbour in the row, or with one that has died, counts as well.
    in_company_ = in_company_ || (edge.two_way && (plan.schedule ? there : edge.active));
  }
  for (Edge& edge : edges_) {
    if (!edge.active || !edge.two_way) continue;
    edge.open = true;
    edge.began = clock_;
    edge.settled = 0;
    edge.degree = degree;
    edge.sent.assign(pieces(), nullptr);
  }
}

/// Applies what has come of an exchange left open; `wait`: all of it, unless patience ends.
Task<> Peer::settle_late(Edge& edge, bool wait) {
  const std::uint64_t life = edge.life;
  while (edge.open && edge.life == life) {
    Receive half{mailbox_, {edge.peer, Kind::model, edge.exchange, edge.settled}, {}};
    if (!half.await_ready() && wait && !edge.given_up) half.answer = co_await half;
    if (edge.life != life) co_return;
    const std::optional<Message> theirs = std::move(half.answer);
    if (!theirs && mailbox_.closed(edge.peer, edge.exchange)) drop(edge);
    if (!theirs && !wait && mutant(Mutant::drop_when_late)) {
      drop(edge);
      ++edge.exchange;
    }
    if (!theirs && wait && !edge.given_up) continue;
    if (!theirs) co_return;
    const Range r = piece(edge.settled);
    const float w = weight(edge, *theirs);
    Payload ours = edge.sent[edge.settled];
    settle(edge, *theirs);
    if (mutant(Mutant::late_against_x)) ours = co_await snapshot(Vector::x, r);
    bool finite = true;
    co_await compute(vector_flops(r, 1), [&] {
      if (mutant(Mutant::drop_late_flow)) return;
      finite = replica.add_flow(r, w, *theirs->payload, *ours);
      if (mutant(Mutant::apply_late_twice)) replica.add_flow(r, w, *theirs->payload, *ours);
    });
    if (!finite) blame(edge);
  }
}

Task<> Peer::share_piece(std::uint32_t part) {
  if (part == 0) co_await begin_exchanges();
  const auto sends = [](const Edge& edge) { return edge.active && edge.tells; };
  if (std::ranges::none_of(edges_, sends)) co_return;
  const Payload frozen = co_await snapshot(Vector::x, piece(part));
  for (Edge& edge : edges_) {
    if (!sends(edge)) continue;
    if (edge.two_way) edge.sent[part] = frozen;
    Message half = message(Kind::model, number(edge), part, frozen);
    if (mutant(Mutant::half_of_another_exchange)) half.step = step;
    half.degree = edge.degree;
    world.send(edge.peer, std::move(half));
  }
}

Task<> Peer::share() {
  for (std::uint32_t part = 0; part < pieces(); ++part) co_await share_piece(part);
}

Task<Peer::Collected> Peer::collect(std::uint32_t part) {
  Collected collected;
  for (Edge& edge : edges_) {
    if (!edge.active || !edge.hears) continue;
    const std::optional<Message> theirs = co_await receive_model(edge, part);
    edge.active = theirs.has_value();
    if (!edge.active) continue;
    collected.flows.vectors.push_back(theirs->payload);
    collected.flows.weights.push_back(weight(edge, *theirs));
    collected.from.push_back(&edge);
    settle(edge, *theirs);
  }
  co_return collected;
}

Task<> Peer::mix_piece(std::uint32_t part) {
  const Collected collected = co_await collect(part);
  const Range r = piece(part);
  NotFinite bad;
  co_await compute(vector_flops(r, collected.from.size()),
                   [&] { bad = replica.mix(r, collected.flows); });
  blame(collected, bad);
}

Task<> Peer::mix() {
  for (std::uint32_t part = 0; part < pieces(); ++part) co_await mix_piece(part);
}

Task<> Peer::average() {
  const std::uint32_t n = pieces();
  for (std::uint32_t part = 0; part < n + pieces_ahead; ++part) {
    if (part < n) co_await share_piece(part);
    if (part >= pieces_ahead) co_await mix_piece(part - pieces_ahead);
  }
}

Task<> Peer::mix_and_step() {
  for (std::uint32_t part = 0; part < pieces(); ++part) {
    const Collected collected = co_await collect(part);
    const Range r = piece(part);
    NotFinite bad;
    co_await compute(vector_flops(r, collected.from.size() + 1),
                     [&] { bad = replica.mix_and_step(r, collected.flows); });
    blame(collected, bad);
  }
}

Task<std::optional<Message>> Peer::receive_model(Edge& edge, std::uint32_t part) {
  Receive waiting{mailbox_, {edge.peer, Kind::model, number(edge), part}, {}};
  if (edge.away) {  // only what has come already
    waiting.await_ready();
    co_return std::move(waiting.answer);
  }
  if (waiting.await_ready()) co_return std::move(waiting.answer);
  waited_ = &edge;
  waited_part_ = part;
  waited_since_ = world.now();
  ++waits_;
  hurried_ = false;
  hurry();
  if (!watching_ && plan.deadline > Time{0}) watch(plan.deadline);
  waiting.answer = co_await waiting;
  waited_ = nullptr;
  longest_wait_ = std::max(longest_wait_, world.now() - waited_since_);
  co_return std::move(waiting.answer);
}

bool Peer::out_of_step(const Edge& edge) const {
  if (!edge.two_way || edge.away || gone(edge)) return false;
  return plan.schedule ? owes_answer(edge) : !edge.active;
}

/// A neighbour that was late or away is out of step with us, and may be waiting for our next
/// exchange with it, which begins with our next round, while we wait for another one in this. Along
/// a cycle of such waits nobody would ever move (the swarm found it on a ring). So who has a
/// neighbour out of step waits for the others of this round only so long; in every cycle there is
/// one.
void Peer::hurry() {
  if (mutant(Mutant::no_hurry)) return;
  if (waited_ == nullptr || hurried_) return;
  if (std::ranges::none_of(edges_, [this](const Edge& e) { return out_of_step(e); })) return;
  hurried_ = true;
  world.after(plan.hurry, [this, wait = waits_] {
    if (waited_ != nullptr && waits_ == wait) mailbox_.interrupt(waited_->peer);
  });
}

/// A neighbour that is alive and does not get on (a stuck trainer, a very slow one) holds a round
/// up for so long and no longer. One timer, whatever the number of waits.
void Peer::watch(Time delay) {
  watching_ = true;
  world.after(delay, [this] {
    watching_ = false;
    if (waited_ == nullptr) return;
    const Time left = waited_since_ + plan.deadline - world.now();
    if (left > Time{0}) return watch(left);
    journal.note(event::DeadlinePassed{step, waited_->peer, number(*waited_), waited_part_});
    mailbox_.interrupt(waited_->peer);
  });
}

/// A peer that has finished waits for the half that a neighbour owes it: for who is away only so
/// long, and for who has died only where somebody takes its place.
void Peer::begin_patience(Edge& edge) {
  if (mutant(Mutant::no_patience)) return;
  const Time patience = edge.dead ? plan.succession : plan.patience;
  if (edge.open && patience > Time{0}) journal.note(event::AwaitsHalf{edge.peer, patience});
  world.after(patience, [this, &edge, outage = edge.outages] {
    if (!edge.away || edge.outages != outage) return;
    edge.given_up = true;
    mailbox_.interrupt(edge.peer);
  });
}

void Peer::blame(const Collected& collected, const NotFinite& bad) {
  for (const std::size_t j : bad) blame(*collected.from[j]);
}

/// Once for each round.
void Peer::blame(Edge& edge) {
  if (edge.struck == step) return;
  edge.struck = step;
  ++edge.strikes;
  journal.note(event::NotFiniteCame{step, edge.peer, edge.strikes, plan.strikes});
}

/// To the neighbour it looks as if we had left.
void Peer::quarantine(Edge& edge) {
  edge.quarantined = true;
  journal.note(event::Quarantined{edge.peer});
  if (mutant(Mutant::quarantine_without_goodbye)) return;
  world.send(edge.peer, message(Kind::goodbye, number(edge), 0, nullptr));
}

void Peer::away(PeerId from) {
  if (Edge* edge = edge_of(from)) {
    edge->away = !mutant(Mutant::no_deadline_for_away);
    ++edge->outages;
    if (mutant(Mutant::drop_when_away) && edge->open) {
      edge->open = edge->active = false;
      ++edge->exchange;
    }
    if (finishing_) begin_patience(*edge);
  }
  mailbox_.interrupt(from);
}

void Peer::died(PeerId from) {
  Edge* edge = edge_of(from);
  if (edge == nullptr) return;
  edge->dead = true;
  if (!edge->away) return away(from);
  if (finishing_) begin_patience(*edge);
}

void Peer::back(PeerId from) {
  if (Edge* edge = edge_of(from)) edge->away = edge->dead = false;
  hurry();
}

void Peer::reborn(PeerId from) {
  Edge* edge = edge_of(from);
  if (edge == nullptr) return;
  if (!mutant(Mutant::keep_exchange_of_the_dead)) drop(*edge);
  edge->active = edge->away = edge->dead = edge->given_up = edge->quarantined = false;
  edge->ahead = 0;
  if (!mutant(Mutant::keep_numbers_of_the_dead)) edge->exchange = 0;
  edge->round = 0;
  edge->strikes = 0;
  ++edge->outages;
  ++edge->life;
  mutant(Mutant::keep_mail_of_the_dead) ? mailbox_.interrupt(from) : mailbox_.forget(from);
  if (edge->left) world.send(from, message(Kind::goodbye, 0, 0, nullptr));
  hurry();
}

std::size_t Peer::open_exchanges() const {
  return static_cast<std::size_t>(std::ranges::count_if(edges_, &Edge::open));
}

bool Peer::exchanging(PeerId with) const {
  return std::ranges::any_of(edges_, [with](const Edge& e) { return e.peer == with && e.open; });
}

std::map<PeerId, Step> Peer::exchanges() const {
  std::map<PeerId, Step> all;
  for (const Edge& edge : edges_)
    if (edge.two_way) all[edge.peer] = edge.exchange;
  return all;
}

}  // namespace gv
