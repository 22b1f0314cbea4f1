#include "gossip/exchange/exchange.h"

#include <limits>
#include <memory>

// Each end of an edge decides by what both ends know: the two contributions and the two degrees. An
// element whose value is not finite at either end flows at neither end.

namespace gv {
namespace {

/// Number of pieces by which sending runs ahead of mixing if nothing else has to be done in
/// between. Measured on a ring of 4 and of 8 over loopback, 25.6e6 floats: 1 to 4 alike, 16 a tenth
/// to a fifth slower, no limit twice as slow. 2 MiB fill a link of 1 Gbit/s and 16 ms.
constexpr std::uint32_t pieces_ahead = 4;

/// Returns W_ij, by which a flow of weight p_i W_ij, known to both ends of an edge, moves this end.
float own_weight(const Plan& plan, float w) {
  return static_cast<float>(double{w} / plan.share);
}

double vector_flops(Range r, std::size_t passes) {
  return 2.0 * static_cast<double>(r.count) * static_cast<double>(passes);
}

}  // namespace

Exchange::Exchange(PeerCore& self, Roster& roster, Pace& pace, Post& post)
    : self_(self),
      roster_(roster),
      pace_(pace),
      post_(post),
      flows_(self),
      clipping_(self, flows_.parts()) {
  for (const Neighbor& neighbor : self.neighbors) {
    Edge edge;
    edge.weight = neighbor.weight;
    edge.hears = neighbor.sends;
    edge.tells = neighbor.receives;
    edge.anew = self.plan.rejoins;
    edges_.push_back(std::move(edge));
  }
}

bool Exchange::open(std::size_t k) const {
  return self_.neighbors[k].two_way &&
         (edges_[k].turn == Turn::open || edges_[k].turn == Turn::late);
}

/// The key has the number of the round in which the half was sent.
Mailbox::Key Exchange::key(std::size_t k, std::uint32_t part) const {
  const Round number = edges_[k].join.ours().value_or(pace_.clock());
  return {self_.neighbors[k].peer, Kind::contribution, number, part};
}

std::uint64_t Exchange::first_without_us(std::size_t k) const {
  return self_.neighbors[k].two_way ? edges_[k].join.after_sent() : pace_.clock();
}

std::vector<EdgeEnd> Exchange::ends() const {
  std::vector<EdgeEnd> ends;
  if (self_.plan.rejoins) return ends;
  for (std::size_t k = 0; k < edges_.size(); ++k) {
    const bool counts = self_.neighbors[k].two_way && !roster_.quarantined(k);
    if (!counts || roster_.life(k) > 0) continue;
    ends.push_back({self_.neighbors[k].peer, edges_[k].number, open(k) ? edges_[k].settled : 0});
  }
  return ends;
}

float Exchange::weight(std::size_t k, const Message& theirs) const {
  const Edge& edge = edges_[k];
  const float w = self_.rules.weight(self_.plan, {.peer = self_.neighbors[k].peer,
                                                  .two_way = self_.neighbors[k].two_way,
                                                  .weight = edge.weight,
                                                  .round = edge.join.ours().value_or(pace_.clock()),
                                                  .degree = edge.degree,
                                                  .theirs_degree = theirs.degree});
  return static_cast<float>(self_.plan.traffic.step) * w;
}

/// Returns the distance between our half of the next piece and theirs that counts whole.
double Exchange::bound(std::size_t k, const Message& theirs) const {
  const Edge& edge = edges_[k];
  if (clipping_.on())
    return self_.rules.bound(double{edge.bounds[edge.settled]}, double{theirs.bound});
  return self_.plan.traffic.clip > 0 ? self_.plan.traffic.clip : unbounded;
}

/// One more piece of the open exchange is applied, or about to be.
void Exchange::settle(std::size_t k, const Message& theirs, float w) {
  const Neighbor& neighbor = self_.neighbors[k];
  if (!neighbor.two_way) return;
  Edge& edge = edges_[k];
  Payload& ours = edge.sent[edge.settled];
  self_.journal.settled({neighbor.peer, edge.number, edge.settled, w, ours, theirs.payload,
                         bound(k, theirs), edge.told_anew, edge.heard_anew});
  ours.reset();
  if (edge.settled == 0) {
    const Round now = *edge.join.ours();
    edge.late = late(k, now);
    edge.last = now;
  }
  if (++edge.settled < flows_.parts()) return;
  edge.turn = edge.turn == Turn::open ? Turn::settled : Turn::idle;
  edge.number = edge.number.next();
  edge.join.end();
  edge.told_anew = edge.heard_anew = false;
}

/// On a fixed graph, the numbers of an edge's flows are consecutive unless one end did a round
/// without the other or skipped rounds. A method that corrects its steps by all past flows (D2,
/// EXTRA, NIDS, K-GT) takes each flow as the answer to the previous one, and oscillates if it is
/// the answer to an older one. So a flow after a gap acts once, as in D-PSGD, and both ends clear
/// the edge's memory: they know the same numbers.
bool Exchange::late(std::size_t k, Round now) const {
  const std::optional<Round>& last = edges_[k].last;
  return !self_.plan.schedule && last && now != *last + 1;
}

/// The neighbour left before this exchange, or died: the rest counts at neither end.
void Exchange::drop(std::size_t k) {
  Edge& edge = edges_[k];
  edge.turn = Turn::idle;
  edge.sharing = false;
  edge.sent.clear();
  edge.join.end();
}

/// The neighbour has passed our half.
void Exchange::drop_void(std::size_t k) {
  Edge& edge = edges_[k];
  const bool told =
      std::ranges::any_of(edge.sent, [](const Payload& sent) { return sent != nullptr; });
  edge.told_void = edge.told_void || (flows_.runs() && told);
  drop(k);
}

void Exchange::abandon(std::size_t k) {
  drop(k);
  edges_[k].number = edges_[k].number.next();
}

void Exchange::replaced(std::size_t k) {
  const Legacy legacy = self_.rules.legacy();
  clipping_.replaced(k);
  Edge& edge = edges_[k];
  if (!legacy.exchange) {
    drop(k);
  } else {
    edge.turn = open(k) ? Turn::late : Turn::idle;
  }
  edge.sharing = false;
  edge.last.reset();
  edge.anew = !legacy.sums;
  if (!legacy.numbers) edge.number = {};
  if (!legacy.exchange && !legacy.numbers) edge.join = {};
  edge.told_void = edge.told_anew = edge.heard_anew = false;
  edge.heard_void.clear();
}

Task<> Exchange::settle_late(std::size_t k, bool wait) {
  const std::uint64_t life = roster_.life(k);
  while (open(k) && roster_.life(k) == life) {
    const Edge& edge = edges_[k];
    Receive half = post_.arrival(key(k, edge.settled));
    if (!half.await_ready() && wait && !roster_.given_up(k)) half.answer = co_await half;
    if (roster_.life(k) != life) co_return;
    const std::optional<Message> theirs = std::move(half.answer);
    if (!theirs && post_.closed(half.key)) drop(k);
    if (!theirs && !wait && !self_.rules.stays_open(Missing::late)) abandon(k);
    if (!theirs && wait && !roster_.given_up(k)) continue;
    if (!theirs) co_return;
    co_await apply(k, *theirs);
  }
}

/// Applies the next piece of the open exchange, against the piece that was sent.
Task<> Exchange::apply(std::size_t k, const Message& theirs) {
  if (flows_.runs()) co_await restart_sums(k);
  const std::uint32_t part = edges_[k].settled;
  const float w = weight(k, theirs);
  const Payload ours = edges_[k].sent[part];
  const double bound = this->bound(k, theirs);
  const ExchangeNumber exchange = edges_[k].number;
  settle(k, theirs, w);
  const ExchangeFlows::Share share{.weight = own_weight(self_.plan, w),
                                   .bound = bound,
                                   .once = edges_[k].late && self_.plan.traffic.moves_by_flows()};
  const ExchangeFlows::Applied applied =
      co_await flows_.apply(k, part, share, theirs.payload, ours);
  if (clipping_.on()) {
    clipping_.flowed(k, part, w * applied.factor, *theirs.payload, *ours);
    clipping_.counted(k, {exchange, part, bound, applied.factor});
  }
  if (!applied.finite) roster_.blame(k);
}

Task<> Exchange::share_piece(std::uint32_t part) {
  if (part == 0) co_await begin_round();
  co_await send_piece(part);
}

Task<> Exchange::send_piece(std::uint32_t part) {
  bool anybody = false;
  for (const Edge& edge : edges_) anybody = anybody || edge.sharing;
  if (!anybody && flows_.plain()) co_return;
  Payload contribution;
  if (!flows_.for_each()) contribution = co_await flows_.half(part, pace_.clock());
  float bound = std::numeric_limits<float>::infinity();  // a liar's bound
  if (clipping_.on() && contribution)
    bound = clipping_.offer(part, flows_.piece(part).range, *contribution);
  for (std::size_t k = 0; k < edges_.size(); ++k) {
    Edge& edge = edges_[k];
    if (!edge.sharing) continue;
    const Mailbox::Key key = this->key(k, part);
    const std::uint64_t life = roster_.life(k);
    if (flows_.for_each()) contribution = co_await flows_.half_for(k, part, pace_.clock());
    // An increment that is already part of the sent sum has to be sent, even if the half is void.
    if (roster_.life(k) != life || (!edge.sharing && !flows_.runs())) continue;
    if (!edge.sharing) edge.told_void = true;
    if (edge.sharing && self_.neighbors[k].two_way) edge.sent[part] = contribution;
    if (clipping_.on()) edge.bounds[part] = bound * clipping_.share_of(k);
    Message half = post_.make_message(Kind::contribution, key.number, part, contribution);
    half.degree = edge.degree;
    if (clipping_.on()) half.bound = edge.bounds[part];
    post_.send(self_.neighbors[k].peer, std::move(half));
  }
}

Task<> Exchange::share() {
  co_await begin_round();
  co_await share_begun();
}

Task<> Exchange::share_begun() {
  for (std::uint32_t part = 0; part < flows_.parts(); ++part) co_await send_piece(part);
}

bool Exchange::copies() const {
  return flows_.plain() && !flows_.for_each() && !self_.plan.traffic.codec;
}

/// Copies a half to the device as soon as it arrives, whatever the algorithm does then, if it will
/// be mixed unchanged. The payload is released on the loop, because only the loop may give back a
/// neighbour's memory.
void Exchange::stage(const Payload& theirs) {
  Overlap* const device = self_.replica.overlap();
  if (device == nullptr || !copies()) return;
  const auto held = std::make_shared<Payload>(theirs);
  self_.world.offload(
      Lane::home, 0, [device, held] { device->stage(*held); }, [held] { held->reset(); });
}

/// Without an answer, the rest is late, or the turn is over because our half is void.
Task<std::optional<Message>> Exchange::receive_half(std::size_t k, std::uint32_t part) {
  const Mailbox::Key key = this->key(k, part);
  std::optional<Message> theirs;
  const bool in_vain = has_passed_us(k) && post_.kept(key) == nullptr;
  if (!in_vain) theirs = co_await post_.receive(key, Absence::away);
  Edge& edge = edges_[k];
  if (theirs || !edge.takes_part()) co_return theirs;
  if (edge.turn == Turn::open) edge.turn = open(k) ? Turn::late : Turn::idle;
  edge.overdue = open(k) && reachable(k);
  co_return theirs;
}

/// Waits for unmatched halves of earlier rounds, if their sender can be reached and has not missed
/// the deadline for them before. This comes after mixing, because mixing needs x as it was sent. A
/// method that averages several vectors in succession has not sent the later ones yet.
Task<> Exchange::settle_older() {
  for (std::size_t k = 0; k < edges_.size(); ++k) {
    const std::uint64_t life = roster_.life(k);
    const auto waits = [&] {
      const Edge& edge = edges_[k];
      return edge.turn == Turn::late && !edge.overdue && roster_.life(k) == life && reachable(k) &&
             edge.sent[edge.settled] && self_.rules.waits_for_older();
    };
    while (waits()) {
      const std::optional<Message> theirs =
          co_await post_.receive(key(k, edges_[k].settled), Absence::away);
      if (theirs) co_await apply(k, *theirs);
      if (!theirs && waits()) edges_[k].overdue = true;
    }
  }
}

Task<> Exchange::collect(std::uint32_t part) {
  for (std::size_t k = 0; k < edges_.size(); ++k) {
    Edge& edge = edges_[k];
    if (!edge.takes_part() || !edge.hears) continue;
    const std::optional<Message> theirs = co_await receive_half(k, part);
    if (!theirs) continue;
    const float w = weight(k, *theirs);
    collected_.flows.vectors.push_back(theirs->payload);
    collected_.flows.weights.push_back(own_weight(self_.plan, w));
    collected_.from.push_back(k);
    if (self_.replica.is_lent()) {
      const bool was_sent = self_.neighbors[k].two_way;
      collected_.flows.ours.push_back(was_sent ? edge.sent[edge.settled] : nullptr);
    }
    if (clipping_.on())
      collected_.clips.push_back({edge.sent[edge.settled], {edge.number, part, bound(k, *theirs)}});
    settle(k, *theirs, w);
  }
}

/// Clips off the loop.
void Exchange::clip(std::uint32_t part) {
  for (std::size_t j = 0; j < collected_.clips.size(); ++j) {
    Collected::Clip& clip = collected_.clips[j];
    const Buffer& theirs = *collected_.flows.vectors[j];
    float& w = collected_.flows.weights[j];
    clip.counted.factor = clip_factor(clip.counted.bound, theirs, *clip.ours);
    w *= clip.counted.factor;
    clipping_.flowed(collected_.from[j], part, w, theirs, *clip.ours);
  }
}

/// The piece is mixed: releases the halves that the neighbours sent.
void Exchange::end_piece(const NotFinite& bad) {
  for (std::size_t j = 0; j < collected_.clips.size(); ++j)
    clipping_.counted(collected_.from[j], collected_.clips[j].counted);
  for (const std::size_t j : bad) roster_.blame(collected_.from[j]);
  collected_.clear();
}

/// Returns how often memory is read: once for each collected half and each clip, and `more` times.
std::size_t Exchange::passes(std::size_t more) const {
  return collected_.from.size() + collected_.clips.size() + more;
}

Task<> Exchange::flow_piece(std::uint32_t part) {
  for (std::size_t k = 0; k < edges_.size(); ++k) {
    if (!edges_[k].takes_part() || !edges_[k].hears) continue;
    const std::optional<Message> theirs = co_await receive_half(k, part);
    if (theirs) co_await apply(k, *theirs);
  }
}

Task<> Exchange::mix_piece(std::uint32_t part) {
  if (!flows_.plain()) co_return co_await flow_piece(part);
  co_await collect(part);
  const Range r = self_.piece(part);
  NotFinite bad;
  const auto work = [&] {
    clip(part);
    bad = self_.replica.mix(r, collected_.flows);
  };
  co_await self_.compute(vector_flops(r, passes(0)), work);
  end_piece(bad);
}

Task<> Exchange::mix() {
  for (std::uint32_t part = 0; part < flows_.parts(); ++part) co_await mix_piece(part);
  co_await settle_older();
}

Task<> Exchange::average_parts(std::uint32_t first, std::uint32_t end) {
  for (std::uint32_t part = first; part < end + pieces_ahead; ++part) {
    if (part < end) co_await share_piece(part);
    if (part >= first + pieces_ahead) co_await mix_piece(part - pieces_ahead);
  }
  co_await settle_older();
}

Task<> Exchange::average() {
  return average_parts(0, flows_.parts());
}

Task<> Exchange::average(std::size_t stream) {
  const auto each = flows_.parts() / static_cast<std::uint32_t>(self_.plan.traffic.streams.size());
  const std::uint32_t first = static_cast<std::uint32_t>(stream) * each;
  return average_parts(first, first + each);
}

Task<> Exchange::mix_and_step() {
  if (!flows_.plain()) {
    co_await mix();
    co_return co_await self_.compute(2.0 * static_cast<double>(self_.replica.size()),
                                     [this] { self_.replica.step(); });
  }
  for (std::uint32_t part = 0; part < self_.pieces(); ++part) {
    co_await collect(part);
    const Range r = self_.piece(part);
    NotFinite bad;
    const auto work = [&] {
      clip(part);
      bad = self_.replica.mix_and_step(r, collected_.flows);
    };
    co_await self_.compute(vector_flops(r, passes(1)), work);
    end_piece(bad);
  }
  co_await settle_older();
}

bool Exchange::take(std::size_t k, Message message) {
  if (!fits(k, message)) return false;
  if (roster_.quarantined(k)) return true;  // sent before our goodbye: dropped
  if (!self_.neighbors[k].two_way) {
    if (out_of_reach(k, message.number)) return true;
    return keep(k, std::move(message));
  }
  Edge& edge = edges_[k];
  const bool begins = !edge.join.heard() || message.number > *edge.join.heard();
  if (!begins && message.number != *edge.join.heard()) return false;
  // A half that flows comes whole before the next one of the same neighbour.
  const bool newest_flows = edge.join.flows() && edge.join.heard() == edge.join.ours();
  if (begins && newest_flows && edge.came < flows_.parts()) return false;
  const std::optional<Round> ours = edge.join.ours();
  if (begins && !edge.join.hear(message.number)) return false;
  if (begins) edge.came = 0;
  if (message.part != edge.came) return false;
  ++edge.came;
  if (begins && !edge.join.takes(message.number)) void_half_of(k, message.number);
  if (!edge.join.takes(message.number)) return true;
  const bool passed_ours = ours && edge.join.free();
  if (passed_ours) drop_void(k);
  keep(k, std::move(message));
  answer(k);
  if (passed_ours) end_wait(k, *ours);
  return true;
}

/// Keeps a piece until the round that it belongs to asks for it. Returns false if it was here.
bool Exchange::keep(std::size_t k, Message message) {
  const Mailbox::Key key{message.from, message.kind, message.number, message.part};
  const bool new_to_us = post_.kept(key) == nullptr;
  const bool next = !self_.plan.schedule || first_round_with(k) <= pace_.next() || open(k);
  // Stages the payload before keep(), because a waiting round mixes a kept message at once, and
  // would copy the payload again.
  if (new_to_us) stage(message.payload);
  post_.keep(std::move(message));
  if (new_to_us && next) pace_.wake();
  return new_to_us;
}

/// On a one-way edge the sender can be ahead only by the hops of a way round to it, or by what a
/// schedule allows. Halves sent while either end took the other for absent do not count.
bool Exchange::out_of_reach(std::size_t k, std::uint64_t number) const {
  if (self_.neighbors[k].two_way) return false;
  const Round now = pace_.clock();
  Round last = now + self_.plan.peers;
  if (self_.plan.schedule && number > last) last = now + 1 + pace_.lead(now + 1);
  return number < now || number > last;
}

/// Returns whether a contribution has the form of neighbour k's contributions.
bool Exchange::fits(std::size_t k, const Message& message) const {
  const Neighbor& neighbor = self_.neighbors[k];
  if (!neighbor.sends || !message.payload || message.part >= flows_.parts()) return false;
  if (clipping_.on() && !(message.bound >= 0)) return false;
  return is_payload(self_.plan.traffic.codec, *message.payload,
                    flows_.piece(message.part).range.count);
}

}  // namespace gv
