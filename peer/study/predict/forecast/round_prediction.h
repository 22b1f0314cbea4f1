#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "peer/fleet/specs.h"
#include "peer/runtime/assembly.h"

namespace gv {

/// The cost of a fleet's round, by the alpha-beta model of its `network` and the compute speed of
/// `simulate`.
struct RoundPrediction {
  double seconds_per_round = 0;
  double network_seconds = 0;  ///< of which the peers do nothing but wait for each other
  double compute_seconds = 0;  ///< the slowest peer's arithmetic; of a dry run, all that remains
                               ///< over a network that takes no time
  double bytes_per_round = 0;  ///< out of the busiest peer
};

/// Predicts d-psgd and the ring all-reduce by closed forms, other methods by a dry run.
RoundPrediction predict_round(const Assembly& fleet);
/// Returns what the local steps of its round take each peer that trains, alone.
std::vector<double> seconds_alone(const Assembly& fleet);
/// Seconds per round of the fleet's own peers and network on any graph.
class GossipClock {
 public:
  explicit GossipClock(const Assembly& fleet);
  ~GossipClock();
  GossipClock(const GossipClock&) = delete;
  GossipClock& operator=(const GossipClock&) = delete;
  /// rows[i]: whom peer i hears and who hears it.
  double seconds(const std::vector<Neighborhood>& rows) const;
  double seconds(const MixingSchedule& schedule) const;
  double model_bytes() const;  ///< on the wire
  /// About so many steps of arithmetic is one answer.
  double work(const std::vector<Neighborhood>& rows) const;

 private:
  struct Parts;
  std::unique_ptr<const Parts> parts_;
};

/// Predicts the same peers, model and network, with gossip over another graph or schedule. The
/// fleet's own algorithm must be one that averages over a topology.
RoundPrediction predict_gossip_round(const Assembly& fleet, const MixingSchedule& schedule);
/// Does the same with ring all-reduce.
RoundPrediction predict_all_reduce_round(const Assembly& fleet);

/// Returns how many models the busiest peer sends in a round of a schedule: the mean over a period,
/// or over some rounds of a random one.
double busiest_receivers(const MixingSchedule& schedule);

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
