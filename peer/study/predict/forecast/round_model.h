#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "peer/fleet/network_spec.h"

namespace gv {

// The alpha-beta model of a round: a frame of b bytes takes alpha + b beta, where alpha is the
// one-way latency and beta one over the bandwidth. Hockney, "The communication challenge for MPP",
// Parallel Computing 20(3), 1994; its use for collectives: Thakur, Rabenseifner & Gropp,
// "Optimization of collective communication operations in MPICH", IJHPCA 19(1), 2005. All times in
// seconds, payloads in bytes. Jitter counts as it falls, loss and congestion not at all.

/// Ring all-reduce of a vector of `bytes` over n peers: 2 (n - 1) hops of alpha + M / (n B).
/// Patarasuk & Yuan, JPDC 2009. With links of their own a hop takes as long as the mean of the ring
/// (the hops of different peers overlap), but no shorter than the slowest link is busy.
double ring_all_reduce_seconds(const NetworkSpec& network, PeerId n, double bytes);

/// One peer in a round of gossip.
struct GossipPeer {
  std::vector<PeerId> receivers;  ///< ascending: whom it sends its model to
  double before = 0;              ///< seconds of compute before it sends
  double during = 0;              ///< while the models travel
  double after = 0;               ///< when its neighbours' have come
};

/// The peers, all of them, in each round of one graph, or of one that changes with the round.
/// `period` rounds are what a mean is taken over (a random schedule: as many as tell).
struct GossipRounds {
  std::function<std::vector<GossipPeer>(std::uint64_t round)> peers;
  std::size_t period = 1;
};

/// Seconds per round of synchronous gossip on any graph: nobody begins a round before all that it
/// hears in the one before is there. `frames`: the bytes of the pieces of a model, in the order in
/// which they go to all neighbours. The recursion t_j(k + 1) = max(own compute, arrivals from i) of
/// max-plus algebra (Baccelli, Cohen, Olsder & Quadrat, "Synchronization and Linearity", 1992),
/// whose growth rate settles after a few rounds.
double gossip_round_seconds(const NetworkSpec& network,
                            const GossipRounds& rounds,
                            const std::vector<std::uint64_t>& frames,
                            std::uint64_t seed);
double gossip_round_seconds(const NetworkSpec& network,
                            const std::vector<GossipPeer>& peers,
                            const std::vector<std::uint64_t>& frames,
                            std::uint64_t seed);

}  // namespace gv
