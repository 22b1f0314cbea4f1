#include "gossip/registry.h"
#include "gossip/ring.h"

// Synchronous SGD by ring all-reduce of the gradient. Patarasuk & Yuan, "Bandwidth optimal
// all-reduce algorithms for clusters of workstations", JPDC 2009: n - 1 hops of reduce-scatter, n -
// 1 of all-gather. Per round and peer: 2 (n - 1) messages out, 8 d (n - 1) / n bytes.

namespace gv {
namespace {

/// One direction of the ring: at each hop sends a chunk on and takes one in. False when the
/// neighbour is gone.
Task<bool> go_round(Peer& me, Kind kind) {
  const PeerId n = me.plan.peers;
  const PeerId next = ring_next(me.plan.id, n);
  const PeerId previous = ring_previous(me.plan.id, n);
  const std::size_t d = me.replica.size();
  for (std::uint32_t hop = 0; hop + 1 < n; ++hop) {
    const Range out = ring_chunk(d, n, ring_sent_chunk(kind, me.plan.id, hop, n));
    if (out.count > 0) {
      Payload chunk = co_await me.snapshot(Vector::g, out);
      me.send(next, kind, std::move(chunk), hop);
    }
    const Range in = ring_chunk(d, n, ring_sent_chunk(kind, previous, hop, n));
    if (in.count == 0) continue;
    const std::optional<Message> message = co_await me.receive(previous, kind, hop);
    if (!message) co_return false;
    const double flops = static_cast<double>(in.count);
    if (kind == Kind::reduce) {
      co_await me.compute(flops, [&] { me.replica.add(Vector::g, in, *message->payload); });
    } else {
      co_await me.compute(flops, [&] { me.replica.load(Vector::g, in, *message->payload); });
    }
  }
  co_return true;
}

}  // namespace

Task<> ring_all_reduce(Peer& me) {
  const float mean = 1.0F / static_cast<float>(me.plan.peers);
  for (; me.running(); co_await me.end_step()) {
    co_await me.gradient();
    const bool reduced = co_await go_round(me, Kind::reduce);
    const bool gathered = reduced && co_await go_round(me, Kind::gather);
    if (!gathered) co_return;  // a peer has died or left: nobody can complete this round
    co_await me.compute(static_cast<double>(me.replica.size()),
                        [&] { me.replica.scale(Vector::g, mean); });
    co_await me.step_local();
  }
}

}  // namespace gv
