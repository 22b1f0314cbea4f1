#include <algorithm>

#include "gossip/registry.h"
#include "gossip/sums/collectives.h"

// Lookahead. Zhang, Lucas, Hinton & Ba, "Lookahead optimizer: k steps forward, 1 step back",
// NeurIPS 2019, arXiv:1907.08610, Algorithm 1, over a fleet: k = train.local_steps fast steps of
// each peer alone. Then the slow weights phi move the part alpha of the way to the mean of all fast
// weights, which restart there. With alpha 1 it is local SGD. Every peer sends to all others: one
// hop, not 2 (n - 1) as on a ring. Per round and peer: n - 1 models out, 4 d (n - 1) bytes.

namespace gv {
namespace {

constexpr Kind fast_weights{28};

constexpr Option options[] = {{.name = "alpha",
                               .usual = 0.5,
                               .least = 0,
                               .most = 1,
                               .help = "the part of the way that the slow weights go, alpha"}};

std::vector<PeerId> all_others(const Setup& setup, PeerId i) {
  std::vector<PeerId> others;
  for (PeerId j = 0; j < setup.peers; ++j)
    if (j != i) others.push_back(j);
  return others;
}

/// A peer is at most one round ahead of another, so at most two of its models wait there.
std::vector<Channel> model_channel(const Setup&, std::size_t d) {
  const auto pieces = static_cast<std::uint32_t>((d + piece_floats - 1) / piece_floats);
  const auto fits = [d, pieces](PeerId, std::uint32_t part, std::size_t bytes) {
    if (part >= pieces) return false;
    return bytes == std::min(piece_floats, d - part * piece_floats) * sizeof(float);
  };
  return {{fast_weights, std::min(piece_floats, d) * sizeof(float), fits, 2 * pieces}};
}

/// Sends to training peers only: with data servers there are more links.
Task<> send_to_all(Peer& me, const Group& all) {
  for (std::uint32_t part = 0; part < me.pieces(); ++part) {
    const Payload mine = co_await me.snapshot(Vector::x, me.piece(part));
    for (const PeerId j : all)
      if (j != me.plan.id) me.send(j, fast_weights, mine, part);
  }
}

/// Returns a piece of j's fast weights, or null if j has gone.
Task<Payload> piece_of(Peer& me, PeerId j, std::uint32_t part) {
  if (j == me.plan.id) {
    Payload mine = co_await me.snapshot(Vector::x, me.piece(part));
    co_return std::move(mine);
  }
  std::optional<Message> message = co_await me.receive(j, fast_weights, part);
  if (!message) co_return nullptr;
  co_return std::move(message->payload);
}

/// phi <- (1 - alpha) phi + alpha times the mean of all x, added in ascending order of peer: the
/// same bits at each. g is free by now and holds one piece at a time. Returns false if a peer has
/// gone.
Task<bool> take_slow_step(Peer& me, Vector phi, float alpha) {
  const Group all = everyone(me);
  const float share = alpha / static_cast<float>(all.size());
  co_await send_to_all(me, all);
  co_await me.scale(phi, 1 - alpha);
  for (std::uint32_t part = 0; part < me.pieces(); ++part) {
    const Range r = me.piece(part);
    for (const PeerId j : all) {
      const Payload theirs = co_await piece_of(me, j, part);
      if (!theirs) co_return false;
      co_await me.compute(4.0 * static_cast<double>(r.count), [&] {
        me.replica.load(Vector::g, r, *theirs);
        me.replica.axpby(share, Vector::g, 1, phi, r);
      });
    }
  }
  co_return true;
}

Task<> lookahead(Peer& me) {
  const Vector phi = me.vector("slow weights");
  const auto alpha = static_cast<float>(me.number("alpha"));
  if (me.round == 0) co_await me.copy(Vector::x, phi);
  for (; me.running(); co_await me.end_round()) {
    co_await me.local_steps();
    co_await me.plain_step();
    const bool done = co_await take_slow_step(me, phi, alpha);
    if (!done) co_return;
    co_await me.copy(phi, Vector::x);
  }
}

}  // namespace

extern const AlgorithmRow lookahead_row{
    .kind = "lookahead",
    .run = lookahead,
    .links = all_others,
    .channels = model_channel,
    .options = options,
    .promise = Promise::agreement,
    .summary = "steps alone, then part of the way to the mean of all models; arXiv:1907.08610"};

}  // namespace gv
