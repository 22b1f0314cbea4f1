#include "gossip/peer.h"

#include <algorithm>
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

double vector_flops(Range r, std::size_t passes) {
  return 2.0 * static_cast<double>(r.count) * static_cast<double>(passes);
}

}  // namespace

Peer::Peer(Plan plan_, World& world_, Replica& replica_)
    : plan(std::move(plan_)), replica(replica_), world(world_) {
  GV_CHECK(plan.neighborhood.peers.size() == plan.neighborhood.weights.size(),
           "a weight for each neighbour");
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
  const Payload frozen = co_await snapshot(Vector::x, piece(part));
  for (const PeerId to : plan.neighborhood.receivers) send(to, Kind::model, frozen, part);
}

Task<> Peer::share() {
  if (plan.neighborhood.receivers.empty()) co_return;
  for (std::uint32_t part = 0; part < pieces(); ++part) co_await share_piece(part);
}

Task<Flows> Peer::collect(std::uint32_t part) {
  const Neighborhood& row = plan.neighborhood;
  Flows flows;
  for (std::size_t j = 0; j < row.peers.size(); ++j) {
    std::optional<Message> message = co_await receive(row.peers[j], Kind::model, part);
    if (!message) continue;
    flows.vectors.push_back(std::move(message->payload));
    flows.weights.push_back(static_cast<float>(row.weights[j]));
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

Task<> Peer::finish() {
  for (const PeerId to : plan.neighborhood.receivers) send(to, Kind::goodbye, nullptr);
  for (const PeerId from : plan.neighborhood.peers) {
    if (!std::ranges::binary_search(plan.neighborhood.receivers, from))
      send(from, Kind::goodbye, nullptr);
  }
  co_await evaluate(true);
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
  // A neighbour can be ahead by no more than the hops of a way round to it.
  if (message.step < step || message.step > step + plan.peers) return false;
  if (!std::ranges::binary_search(plan.neighborhood.peers, message.from)) return false;
  std::size_t expected = 0;
  if (message.kind == Kind::model) {
    if (message.part >= pieces()) return false;
    expected = piece(message.part).count;
  } else {
    const PeerId c = ring_sent_chunk(message.kind, message.from, message.part, plan.peers);
    expected = ring_chunk(replica.size(), plan.peers, c).count;
  }
  return message.payload && message.payload->size() == expected * sizeof(float);
}

void Peer::lost(PeerId from) {
  mailbox_.close(from, 0);
}

}  // namespace gv
