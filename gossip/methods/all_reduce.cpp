#include <bit>

#include "gossip/registry.h"
#include "gossip/sums/collectives.h"
#include "gossip/sums/links.h"
#include "gossip/sums/norms.h"

// Synchronous SGD: every step takes the mean gradient of all peers. Four ways to sum, the same sum
// up to rounding. Per round and peer, M = 4 d bytes, n peers: ring (Patarasuk & Yuan, JPDC 2009)
// 2 (n - 1) hops, each in messages of at most 512 KiB, 2 M (n - 1) / n bytes out; driver, where
// peer 0 sums (as one parameter server would: Li et al., OSDI 2014) M out, from the driver
// (n - 1) M; recursive doubling (Thakur, Rabenseifner & Gropp, IJHPCA 2005) M log2 n; hierarchical
// (machines first: Jia et al. 2018, arXiv:1807.11205) M to the machine's first peer, along whose
// ring 2 M (h - 1) / h for h machines.

namespace gv {
namespace {

Task<> synchronous_sgd(Peer& me, Task<bool> (*average)(Peer&)) {
  for (; me.running(); co_await me.end_round()) {
    co_await me.gradient();
    const bool done = co_await average(me);
    if (!done) co_return;  // one has gone: no peer can complete this round
    co_await me.step_local();
  }
}

template <Way way>
Task<bool> average_gradients(Peer& me) {
  return all_average(me, everyone(me), Vector::g, way, me.codec());
}

/// The first peer of each machine sums there, then with the other machines' first.
Task<bool> average_by_host(Peer& me) {
  const Group here = host_group(*me.plan.setup, me.plan.id);
  const Group firsts = first_of_hosts(*me.plan.setup);
  Sum sum{.codec = me.codec()};
  if (clips_sums(me)) {
    const double own = co_await norm_of(me, Vector::g);
    const Numbers norms = co_await tell_hosts(me, static_cast<float>(own));
    if (!norms) co_return false;
    sum.bound = co_await shorten(me, Vector::g, *norms);
  }
  const bool summed = co_await reduce(me, here, Vector::g, sum);
  if (!summed) co_return false;
  if (here.front() == me.plan.id) {
    const bool whole = co_await all_reduce(me, firsts, Vector::g, Way::ring, sum);
    if (!whole) co_return false;
  }
  const bool given = co_await broadcast(me, here, Vector::g, sum);
  if (!given) co_return false;
  co_await me.scale(Vector::g, 1.0F / static_cast<float>(me.plan.setup->peers));
  co_return true;
}

Task<> by_ring(Peer& me) {
  return synchronous_sgd(me, average_gradients<Way::ring>);
}
Task<> by_driver(Peer& me) {
  return synchronous_sgd(me, average_gradients<Way::driver>);
}
Task<> by_doubling(Peer& me) {
  return synchronous_sgd(me, average_gradients<Way::doubling>);
}
Task<> by_host(Peer& me) {
  return synchronous_sgd(me, average_by_host);
}

std::string all_reduce_objection(const Setup& setup, const MixingMatrix*) {
  if (setup.local_steps == 1) return "";
  return "all-reduce averages every gradient: train.local_steps must be 1; `algorithm: local-sgd` "
         "averages the models after a number of steps";
}

std::string doubling_objection(const Setup& setup, const MixingMatrix* w) {
  if (!std::has_single_bit(setup.peers))
    return "recursive doubling needs a power of two peers, not " + std::to_string(setup.peers) +
           ": take `order: ring`";
  return all_reduce_objection(setup, w);
}

/// Adds what all orders have in common.
constexpr AlgorithmRow in_all(AlgorithmRow row) {
  row.codecs = Codecs::dense;
  row.clips_sums = true;
  row.program = changed_gradients;
  row.promise = Promise::agreement;
  return row;
}

}  // namespace

extern const AlgorithmRow ring_all_reduce_row =
    in_all({.kind = "all-reduce",
            .order = "ring",
            .run = by_ring,
            .links = ring_links,
            .channels = ring_channels,
            .objection = all_reduce_objection,
            .by_coordinate = true,
            .summary = "synchronous SGD, gradients averaged along a ring; Patarasuk & Yuan 2009"});
extern const AlgorithmRow driver_all_reduce_row =
    in_all({.kind = "all-reduce",
            .order = "driver",
            .run = by_driver,
            .links = driver_links,
            .channels = piece_channels,
            .objection = all_reduce_objection,
            .by_coordinate = true,
            .summary = "synchronous SGD, gradients averaged by peer 0; Li et al. 2014"});
extern const AlgorithmRow doubling_all_reduce_row = in_all(
    {.kind = "all-reduce",
     .order = "doubling",
     .run = by_doubling,
     .links = doubling_links,
     .channels = piece_channels,
     .objection = doubling_objection,
     .by_coordinate = true,
     .summary = "synchronous SGD, gradients averaged by recursive doubling; Thakur et al. 2005"});
extern const AlgorithmRow hierarchical_all_reduce_row = in_all(
    {.kind = "all-reduce",
     .order = "hierarchical",
     .run = by_host,
     .links = host_links,
     .channels = host_channels,
     .objection = all_reduce_objection,
     .summary = "synchronous SGD, gradients summed on each machine, then along a ring of machines; "
                "arXiv:1807.11205"});

}  // namespace gv
