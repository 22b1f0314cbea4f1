#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "peer/fleet/specs.h"

namespace gv {

// The alpha-beta model of a round: a frame of b bytes takes alpha + b beta, where alpha is the
// one-way latency and beta one over the bandwidth. Hockney, "The communication challenge for MPP",
// Parallel Computing 20(3), 1994; its use for collectives: Thakur, Rabenseifner & Gropp,
// "Optimization of collective communication operations in MPICH", IJHPCA 19(1), 2005. All times in
// seconds, payloads in bytes. Jitter counts as it falls, loss and congestion not at all.

/// One peer in a round of ring all-reduce, in seconds.
struct RingPeer {
  double before = 0;     ///< of compute before it sends
  double per_float = 0;  ///< of copying one out, and of adding or copying one in
  double after = 0;      ///< of compute when it has the sum
};

/// A piece of the chunk that goes on at each hop.
struct RingPiece {
  std::size_t floats = 0;
  std::uint64_t bytes = 0;  ///< of its frame
};

/// Seconds per round of ring all-reduce: n - 1 hops of a chunk to the sum, and as many until all
/// have it. Patarasuk & Yuan, JPDC 2009. Each peer copies a piece out, and adds in what comes, in
/// the order of the code (collectives.cpp), by the recursion that stands below for gossip.
double ring_round_seconds(const NetworkSpec& network,
                          const std::vector<RingPeer>& peers,
                          const std::vector<RingPiece>& chunk,
                          std::uint64_t seed);

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
