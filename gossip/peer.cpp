#include "gossip/peer.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "gossip/ring.h"
#include "optim/check.h"

namespace gv {
namespace {

/// Runs a job off the loop and resumes the coroutine on it. The lambda is made here and not beside
/// a `co_await`: g++ 12 can free the captures of the latter twice.
struct Offload {
  World& world;
  double flops;
  std::function<void()> job;
  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> h) {
    world.offload(flops, std::move(job), [h] { h.resume(); });
  }
  void await_resume() const noexcept {}
};

struct Receive {
  Mailbox& mailbox;
  Mailbox::Key key;
  std::optional<Message> answer;
  bool await_ready() { return mailbox.take(key, answer); }
  void await_suspend(std::coroutine_handle<> h) {
    mailbox.wait(key, [this, h](std::optional<Message> m) {
      answer = std::move(m);
      h.resume();
    });
  }
  std::optional<Message> await_resume() { return std::move(answer); }
};

/// How far sending runs ahead of mixing where nothing else is to be done in between. Measured on a
/// ring of 4 and of 8 over loopback, 25.6e6 floats: 1 to 4 alike, 16 a tenth to a fifth slower, no
/// limit twice as slow. 2 MiB on their way also fill a link of 1 Gbit/s and 16 ms.
constexpr std::uint32_t pieces_ahead = 4;

struct AllLeft {
  const std::size_t& leaving;
  std::coroutine_handle<>& when_left;
  bool await_ready() const noexcept { return leaving == 0; }
  void await_suspend(std::coroutine_handle<> h) const noexcept { when_left = h; }
  void await_resume() const noexcept {}
};

double vector_flops(Range r, std::size_t passes) {
  return 2.0 * static_cast<double>(r.count) * static_cast<double>(passes);
}

}  // namespace

Peer::Peer(Plan plan_, World& world_, Replica& replica_)
    : plan(std::move(plan_)), replica(replica_), world(world_) {
  const Neighborhood& row = plan.neighborhood;
  GV_CHECK(row.peers.size() == row.weights.size(), "a weight for each neighbour");
  std::vector<PeerId> all;
  std::ranges::set_union(row.peers, row.receivers, std::back_inserter(all));
  for (const PeerId peer : all) {
    Edge edge;
    edge.peer = peer;
    edge.out = std::ranges::binary_search(row.receivers, peer);
    const auto in = std::ranges::lower_bound(row.peers, peer);
    edge.in = in != row.peers.end() && *in == peer;
    if (edge.in)
      edge.weight =
          static_cast<float>(row.weights[static_cast<std::size_t>(in - row.peers.begin())]);
    edges_.push_back(std::move(edge));
  }
}

// Exchanges. Averaging is written as flows, x_i += w (x_j - x_i), and the mean of the fleet is kept
// when both ends of an edge apply opposite flows exactly once. The optimistic protocol: both ends
// send at once, and each applies its half as soon as the other's vector of the same exchange is
// there, against the vector that it sent itself. Nothing is ever voided by one side: a neighbour
// that is away leaves the exchange open, its half is applied late, and no other exchange with it
// begins before (at most one open on each edge, so memory is bounded). The session below
// (session.h) delivers every message exactly once while both ends live, whatever becomes of
// connections. The other protocol, in which one end decides and tells, costs half a round trip more
// before the decided half may be applied, on every edge and in every round.

Peer::Edge* Peer::edge_of(PeerId peer) {
  const auto at = std::ranges::find(edges_, peer, &Edge::peer);
  return at == edges_.end() ? nullptr : &*at;
}

void Peer::settled(Edge& edge) {
  if (!edge.two_way()) return;
  edge.sent[edge.settled].reset();
  if (++edge.settled < pieces()) return;
  edge.open = false;
  ++edge.exchange;
}

Task<std::optional<Message>> Peer::receive_model(Edge& edge, std::uint32_t part) {
  Receive waiting{mailbox_, {edge.peer, Kind::model, number(edge), part}, {}};
  if (edge.away) {  // only what has come already
    waiting.await_ready();
    co_return std::move(waiting.answer);
  }
  if (waiting.await_ready()) co_return std::move(waiting.answer);
  waited_ = &edge;
  ++waits_;
  hurried_ = false;
  hurry();
  waiting.answer = co_await waiting;
  waited_ = nullptr;
  co_return std::move(waiting.answer);
}

/// A neighbour that was late or away is out of step with us, and may be waiting for our next
/// exchange with it, which begins with our next round, while we wait for another one in this. Along
/// a cycle of such waits nobody would ever move (the swarm found it on a ring). So who has a
/// neighbour out of step waits for the others of this round only so long; in every cycle there is
/// one.
void Peer::hurry() {
  const auto out_of_step = [this](const Edge& e) {
    return e.two_way() && !e.active && !e.away && !mailbox_.closed(e.peer, e.exchange);
  };
  if (waited_ == nullptr || hurried_ || std::ranges::none_of(edges_, out_of_step)) return;
  hurried_ = true;
  world.after(plan.hurry, [this, wait = waits_] {
    if (waited_ != nullptr && waits_ == wait) mailbox_.interrupt(waited_->peer);
  });
}

/// Applies what has come of an exchange left open; `wait`: all of it, unless patience ends.
Task<> Peer::settle_late(Edge& edge, bool wait) {
  while (edge.open) {
    Receive half{mailbox_, {edge.peer, Kind::model, edge.exchange, edge.settled}, {}};
    if (!half.await_ready() && wait && !edge.given_up) half.answer = co_await half;
    const std::optional<Message> theirs = std::move(half.answer);
    if (!theirs && mailbox_.closed(edge.peer, edge.exchange)) {
      edge.open = false;  // it left before this exchange, or died: neither half counts
      edge.sent.clear();
    }
    if (!theirs && wait && !edge.given_up) continue;
    if (!theirs) co_return;
    const Range r = piece(edge.settled);
    co_await compute(vector_flops(r, 1), [&] {
      replica.add_flow(r, edge.weight, *theirs->payload, *edge.sent[edge.settled]);
    });
    settled(edge);
  }
}

Task<> Peer::begin_exchanges() {
  for (Edge& edge : edges_) {
    if (edge.open) co_await settle_late(edge, false);
    const bool gone = mailbox_.closed(edge.peer, number(edge));
    edge.active = !gone && !edge.away && !edge.open;
    if (!edge.active || !edge.two_way()) continue;
    edge.open = true;
    edge.settled = 0;
    edge.sent.assign(pieces(), nullptr);
  }
}

std::size_t Peer::open_exchanges() const {
  return static_cast<std::size_t>(std::ranges::count_if(edges_, &Edge::open));
}

std::map<PeerId, Step> Peer::exchanges() const {
  std::map<PeerId, Step> all;
  for (const Edge& edge : edges_)
    if (edge.two_way()) all[edge.peer] = edge.exchange;
  return all;
}

void Peer::away(PeerId from) {
  if (Edge* edge = edge_of(from)) {
    edge->away = true;
    ++edge->outages;
    if (finishing_) begin_patience(*edge);
  }
  mailbox_.interrupt(from);
}

/// A peer that has finished waits for the half that a neighbour owes it, and for who is away only
/// so long.
void Peer::begin_patience(Edge& edge) {
  world.after(plan.patience, [this, &edge, outage = edge.outages] {
    if (!edge.away || edge.outages != outage) return;
    edge.given_up = true;
    mailbox_.interrupt(edge.peer);
  });
}

void Peer::back(PeerId from) {
  if (Edge* edge = edge_of(from)) edge->away = false;
  hurry();
}

Task<Payload> Peer::snapshot(Vector v, Range r) {
  const std::shared_ptr<Buffer> copy = pool_.acquire(r.count * sizeof(float));
  co_await compute(static_cast<double>(r.count), [&] { replica.snapshot(v, r, *copy); });
  co_return copy;
}

void Peer::send(PeerId to, Kind kind, Payload payload, std::uint32_t part) {
  if (kind != Kind::goodbye && mailbox_.closed(to, step)) return;
  world.send(to, {plan.id, kind, step, part, std::move(payload)});
}

Task<std::optional<Message>> Peer::receive(PeerId from, Kind kind, std::uint32_t part) {
  Receive waiting{mailbox_, {from, kind, step, part}, {}};
  co_return co_await waiting;
}

std::uint32_t Peer::pieces() const {
  return static_cast<std::uint32_t>((replica.size() + piece_floats - 1) / piece_floats);
}

Range Peer::piece(std::uint32_t part) const {
  const std::size_t begin = part * piece_floats;
  return {begin, std::min(piece_floats, replica.size() - begin)};
}

Task<> Peer::share_piece(std::uint32_t part) {
  if (part == 0) co_await begin_exchanges();
  const auto sends = [](const Edge& edge) { return edge.active && edge.out; };
  if (std::ranges::none_of(edges_, sends)) co_return;
  const Payload frozen = co_await snapshot(Vector::x, piece(part));
  for (Edge& edge : edges_) {
    if (!sends(edge)) continue;
    if (edge.two_way()) edge.sent[part] = frozen;
    world.send(edge.peer, {plan.id, Kind::model, number(edge), part, frozen});
  }
}

Task<> Peer::share() {
  for (std::uint32_t part = 0; part < pieces(); ++part) co_await share_piece(part);
}

Task<Flows> Peer::collect(std::uint32_t part) {
  Flows flows;
  for (Edge& edge : edges_) {
    if (!edge.active || !edge.in) continue;
    std::optional<Message> message = co_await receive_model(edge, part);
    edge.active = message.has_value();
    if (!edge.active) continue;
    flows.vectors.push_back(std::move(message->payload));
    flows.weights.push_back(edge.weight);
    settled(edge);
  }
  co_return flows;
}

Task<> Peer::mix_piece(std::uint32_t part) {
  const Flows flows = co_await collect(part);
  const Range r = piece(part);
  co_await compute(vector_flops(r, flows.vectors.size()), [&] { replica.mix(r, flows); });
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
    const Flows flows = co_await collect(part);
    const Range r = piece(part);
    co_await compute(vector_flops(r, flows.vectors.size() + 1),
                     [&] { replica.mix_and_step(r, flows); });
  }
}

Task<> Peer::compute(double flops, std::function<void()> job) {
  Offload offload{world, flops, std::move(job)};
  co_await offload;
}

Task<> Peer::gradient() {
  co_await compute(replica.gradient_flops(), [this] { pending_loss_ = replica.gradient(); });
  loss_sum_ += pending_loss_;
  ++losses_;
}

Task<> Peer::step_local() {
  co_await compute(vector_flops({0, replica.size()}, 1), [this] { replica.step(); });
}

Task<> Peer::local_steps() {
  for (std::uint32_t h = 1; h < plan.local_steps; ++h) {
    co_await gradient();
    co_await step_local();
  }
}

Task<> Peer::end_step() {
  ++step;
  const bool due = plan.evaluate_every != 0 && step % plan.evaluate_every == 0;
  if (due && running()) co_await evaluate(false);
}

/// Edge by edge and all at once: a neighbour may be waiting for our goodbye while we wait for the
/// half that another one owes us.
Task<> Peer::finish() {
  finishing_ = true;
  leaving_ = edges_.size();
  for (Edge& edge : edges_) {
    if (edge.away) begin_patience(edge);
    farewells_.push_back(leave(edge));
    farewells_.back().start();
  }
  AllLeft all{leaving_, when_left_};
  co_await all;
  co_await evaluate(true);
}

Task<> Peer::leave(Edge& edge) {
  co_await settle_late(edge, true);
  const Step first_without_us = number(edge) + (edge.open ? 1 : 0);
  world.send(edge.peer, {plan.id, Kind::goodbye, first_without_us, 0, nullptr});
  if (--leaving_ == 0 && when_left_) std::exchange(when_left_, {}).resume();
}

Task<> Peer::evaluate(bool last) {
  Report report{.peer = plan.id,
                .step = step,
                .last = last,
                .train_loss = 0,
                .evaluation = {},
                .sent_bytes = 0,
                .model = {}};
  report.train_loss = losses_ == 0 ? 0 : loss_sum_ / static_cast<double>(losses_);
  report.sent_bytes = world.sent_bytes();
  loss_sum_ = 0;
  losses_ = 0;
  const std::shared_ptr<Buffer> copy = pool_.acquire(replica.size() * sizeof(float));
  // No flops: looking at a fleet takes no virtual time.
  co_await compute(0, [&] {
    replica.snapshot(Vector::x, {0, replica.size()}, *copy);
    report.evaluation = replica.evaluate();
  });
  report.model = copy;
  world.publish(std::move(report));
}

bool Peer::deliver(Message message) {
  if (message.kind == Kind::goodbye) {
    mailbox_.close(message.from, message.step);
    return true;
  }
  return acceptable(message) && mailbox_.deliver(std::move(message));
}

bool Peer::acceptable(const Message& message) const {
  const auto edge = std::ranges::find(edges_, message.from, &Edge::peer);
  if (edge == edges_.end() || !edge->in) return false;
  std::size_t expected = 0;
  Step first = step;
  // A neighbour can be ahead by no more than the hops of a way round to it.
  Step last = step + plan.peers;
  if (message.kind == Kind::model) {
    if (message.part >= pieces()) return false;
    expected = piece(message.part).count;
    if (edge->two_way()) {  // it begins an exchange when the one before is settled
      first = edge->exchange;
      last = edge->exchange + 1;
    }
  } else {
    const PeerId c = ring_sent_chunk(message.kind, message.from, message.part, plan.peers);
    expected = ring_chunk(replica.size(), plan.peers, c).count;
  }
  if (message.step < first || message.step > last) return false;
  return message.payload && message.payload->size() == expected * sizeof(float);
}

void Peer::lost(PeerId from) {
  mailbox_.close(from, 0);
}

}  // namespace gv
