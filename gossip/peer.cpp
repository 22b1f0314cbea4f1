#include "gossip/peer.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "gossip/awaits.h"
#include "gossip/mutant.h"
#include "gossip/ring.h"
#include "optim/check.h"
#include "optim/state.h"

namespace gv {
namespace {

struct AllLeft {
  const std::size_t& leaving;
  std::coroutine_handle<>& when_left;
  bool await_ready() const noexcept { return leaving == 0; }
  void await_suspend(std::coroutine_handle<> h) const noexcept { when_left = h; }
  void await_resume() const noexcept {}
};

}  // namespace

Peer::Peer(Plan plan_, World& world_, Journal& journal_, Replica& replica_)
    : plan(std::move(plan_)), replica(replica_), world(world_), journal(journal_) {
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
    edge.two_way = edge.in && edge.out && !(plan.schedule && plan.schedule->directed());
    edge.hears = edge.in;
    edge.tells = edge.out;
    if (edge.in)
      edge.weight =
          static_cast<float>(row.weights[static_cast<std::size_t>(in - row.peers.begin())]);
    edges_.push_back(std::move(edge));
  }
}

Peer::Edge* Peer::edge_of(PeerId peer) {
  const auto at = std::ranges::lower_bound(edges_, peer, {}, &Edge::peer);
  return at == edges_.end() || at->peer != peer ? nullptr : &*at;
}

Message Peer::message(Kind kind, Step number, std::uint32_t part, Payload payload) const {
  Message m;
  m.from = plan.id;
  m.kind = kind;
  m.step = number;
  m.part = part;
  m.payload = std::move(payload);
  m.round = clock_;
  return m;
}

Task<Payload> Peer::snapshot(Vector v, Range r) {
  const std::shared_ptr<Buffer> copy = pool_.acquire(r.count * sizeof(float));
  co_await compute(static_cast<double>(r.count), [&] { replica.snapshot(v, r, *copy); });
  co_return copy;
}

void Peer::send(PeerId to, Kind kind, Payload payload, std::uint32_t part) {
  if (kind != Kind::goodbye && mailbox_.closed(to, step)) return;
  world.send(to, message(kind, step, part, std::move(payload)));
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

Task<> Peer::compute(double flops, std::function<void()> job) {
  Offload offload{world, flops, std::move(job)};
  co_await offload;
}

Task<> Peer::train(double flops, double (Replica::*work)()) {
  co_await compute(flops, [this, work] { pending_loss_ = (replica.*work)(); });
  loss_sum_ += pending_loss_;
  ++losses_;
}

double Peer::step_flops() const {
  return 2.0 * static_cast<double>(replica.size());
}

Task<> Peer::gradient() {
  return train(replica.gradient_flops(), &Replica::gradient);
}

Task<> Peer::step_local() {
  co_await compute(step_flops(), [this] { replica.step(); });
}

Task<> Peer::plain_step() {
  return train(replica.gradient_flops() + step_flops(), &Replica::gradient_and_step);
}

Task<> Peer::local_steps() {
  for (std::uint32_t h = 1; h < plan.local_steps; ++h) co_await plain_step();
}

Task<> Peer::end_step() {
  const Step before = step++;
  if (in_company_) ++clock_;
  if (plan.catch_up) catch_up(plan.peers, bearable_lag());
  const auto due = [&](Step every) { return every != 0 && step / every > before / every; };
  if (due(plan.checkpoint_every)) co_await checkpoint();
  if (due(plan.evaluate_every) && running()) co_await evaluate(false);
  if (plan.catch_up) co_await keep_pace();
}

/// Takes no virtual time, like an evaluation. A model that is not finite must not take the place of
/// one that was.
Task<> Peer::checkpoint() {
  bool finite = true;
  co_await compute(0, [&] {
    finite = replica.finite();
    if (!finite) return;
    StateWriter state;
    replica.save(state);
    journal.store(step, state.take());
  });
  if (!finite) journal.note(event::CheckpointLeftOut{step});
}

/// Edge by edge and all at once: a neighbour may be waiting for our goodbye while we wait for the
/// half that another one owes us.
Task<> Peer::finish() {
  finishing_ = true;
  finishing_since_ = world.now();
  leaving_ = edges_.size();
  for (Edge& edge : edges_) {
    if (edge.away) begin_patience(edge);
    errands_.push_back(leave(edge));
    errands_.back().start();
  }
  AllLeft all{leaving_, when_left_};
  co_await all;
  co_await evaluate(true);
}

Task<> Peer::leave(Edge& edge) {
  if (!mutant(Mutant::leave_unsettled)) co_await settle_late(edge, true);
  const Step first_without_us = number(edge) + (edge.open ? 1 : 0);
  edge.left = true;
  if (!edge.quarantined || !mutant(Mutant::quarantine_without_goodbye))
    world.send(edge.peer, message(Kind::goodbye, first_without_us, 0, nullptr));
  if (--leaving_ == 0 && when_left_) std::exchange(when_left_, {}).resume();
}

Task<> Peer::evaluate(bool last) {
  Report report{.peer = plan.id,
                .step = last ? step : step - step % plan.evaluate_every,
                .last = last,
                .train_loss = 0,
                .evaluation = {},
                .sent_bytes = 0,
                .longest_wait = longest_wait_,
                .passed_over = passed_over_,
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
  journal.publish(std::move(report));
}

bool Peer::deliver(Message message) {
  Edge* edge = edge_of(message.from);
  if (edge == nullptr) return false;
  if (message.kind == Kind::goodbye) {
    mailbox_.close(message.from, message.step);
    return true;
  }
  if (!acceptable(message)) return false;
  if (message.kind == Kind::fetch) {
    if (mutant(Mutant::fetch_without_answer)) return true;
    std::erase_if(errands_, [](const Task<>& errand) { return errand.done(); });
    errands_.push_back(give_model(*edge));
    errands_.back().start();
    return true;
  }
  // An answer that came too late, or what was sent before our goodbye, is for nobody.
  const bool unwanted = edge->quarantined || (message.kind == Kind::state && !joining_);
  if (unwanted) return true;
  const bool new_to_us = mailbox_.deliver(std::move(message));
  if (plan.schedule && owes_answer(*edge)) hurry();
  return new_to_us;
}

bool Peer::acceptable(const Message& message) {
  const Edge& edge = *edge_of(message.from);
  if (message.kind == Kind::fetch) return edge.two_way && !message.payload;
  if (message.kind == Kind::state && !message.payload) return message.part == 0;
  if (!edge.in) return false;
  Step first = step;
  // A neighbour can be ahead by no more than the hops of a way round to it.
  Step last = step + plan.peers;
  if (plan.schedule && message.step > last) last = step + 1 + lead(step + 1);
  if (message.kind == Kind::state) {
    first = last = 0;
  } else if (message.kind == Kind::model && edge.two_way) {
    first = edge.exchange;  // it begins an exchange when the one before is settled
    last = edge.exchange + 1;
  }
  if (message.step < first || message.step > last) return false;
  const std::size_t floats = expected_floats(message);
  return message.payload && message.payload->size() == floats * sizeof(float) &&
         (floats > 0 || message.kind == Kind::reduce || message.kind == Kind::gather);
}

/// 0: there is no such part.
std::size_t Peer::expected_floats(const Message& message) const {
  if (message.kind == Kind::model || message.kind == Kind::state)
    return message.part < pieces() ? piece(message.part).count : 0;
  const PeerId c = ring_sent_chunk(message.kind, message.from, message.part, plan.peers);
  return ring_chunk(replica.size(), plan.peers, c).count;
}

}  // namespace gv
