#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "peer/fleet/specs.h"
#include "peer/runtime/assembly/assembly.h"

namespace gv {

/// The cost of a round by the alpha-beta model of the fleet's `network` and the compute speed of
/// `simulate`.
struct RoundPrediction {
  double seconds_per_round = 0;
  double compute_seconds = 0;  ///< slowest peer's arithmetic; dry run: a round without network
  double bytes_per_round = 0;  ///< bytes sent by the busiest peer
  /// Returns the part in which peers only wait for each other.
  double network_seconds() const { return seconds_per_round - compute_seconds; }
};

/// Predicts d-psgd and the ring all-reduce by closed forms, other methods by a dry run.
RoundPrediction predict_round(const Assembly& fleet);
/// Returns the time of a round's local steps for each training peer, without waiting.
std::vector<double> seconds_alone(const Assembly& fleet);
/// Seconds per round of the fleet's own peers and network on any graph.
class GossipClock {
 public:
  explicit GossipClock(const Assembly& fleet);
  ~GossipClock();
  GossipClock(const GossipClock&) = delete;
  GossipClock& operator=(const GossipClock&) = delete;
  /// rows[i]: the peers that peer i receives from and sends to.
  double seconds(const std::vector<Neighborhood>& rows) const;
  double seconds(const MixingSchedule& schedule) const;
  double model_bytes() const;  ///< bytes on the wire
  /// Returns the approximate number of arithmetic operations of one call of seconds().
  double work(const std::vector<Neighborhood>& rows) const;

 private:
  struct Parts;
  std::unique_ptr<const Parts> parts_;
};

/// Predicts the same peers, model and network with gossip over another graph or schedule. The
/// fleet's algorithm must average over a topology.
RoundPrediction predict_gossip_round(const Assembly& fleet, const MixingSchedule& schedule);
/// Predicts the same peers, model and network with ring all-reduce.
RoundPrediction predict_all_reduce_round(const Assembly& fleet);

/// Returns the mean number of models that the busiest peer sends per round, over a period or over
/// some rounds of a random schedule.
double busiest_receivers(const MixingSchedule& schedule);

// The alpha-beta model of a round: a frame of b bytes takes alpha + b beta, where alpha is the
// one-way latency and beta is 1 / bandwidth. Hockney, "The communication challenge for MPP",
// Parallel Computing 20(3), 1994; its use for collectives: Thakur, Rabenseifner & Gropp,
// "Optimization of collective communication operations in MPICH", IJHPCA 19(1), 2005. All times in
// seconds, payloads in bytes. Jitter is drawn as in a run; loss and congestion are ignored.

/// One peer in a round of ring all-reduce, in seconds.
struct RingPeer {
  double before = 0;     ///< compute before sending
  double per_float = 0;  ///< copying a float out, or adding or copying one in
  double after = 0;      ///< compute after the sum is complete
};

/// A piece of the chunk that travels at each hop.
struct RingPiece {
  std::size_t floats = 0;
  std::uint64_t bytes = 0;  ///< size of its frame
};

/// Returns the seconds per round of ring all-reduce: n - 1 hops of a chunk for the sum, and n - 1
/// hops to distribute it. Patarasuk & Yuan, JPDC 2009. Peers copy pieces out and add incoming ones
/// in the order of collectives.cpp, by the same recursion as gossip below.
double ring_round_seconds(const NetworkSpec& network,
                          const std::vector<RingPeer>& peers,
                          const std::vector<RingPiece>& chunk,
                          std::uint64_t seed);

/// One peer in a round of gossip.
struct GossipPeer {
  std::vector<PeerId> receivers;  ///< peers it sends its model to, ascending
  double before = 0;              ///< seconds of compute before sending
  double during = 0;              ///< seconds of compute while models travel
  double after = 0;               ///< seconds of compute after neighbours' models have arrived
};

/// All peers in each round of a static graph or a schedule. The mean is taken over multiples of
/// `period` rounds (for a random schedule: enough rounds).
struct GossipRounds {
  std::function<std::vector<GossipPeer>(std::uint64_t round)> peers;
  std::size_t period = 1;
};

/// Returns the seconds per round of synchronous gossip on any graph: a peer begins a round after it
/// has received all models of the previous one. `frames`: sizes in bytes of a model's pieces, in
/// the order in which they are sent to all neighbours. The recursion t_j(k + 1) = max(own compute,
/// arrivals from i) of max-plus algebra (Baccelli, Cohen, Olsder & Quadrat, "Synchronization and
/// Linearity", 1992), whose growth rate settles after a few rounds.
double gossip_round_seconds(const NetworkSpec& network,
                            const GossipRounds& rounds,
                            const std::vector<std::uint64_t>& frames,
                            std::uint64_t seed);
double gossip_round_seconds(const NetworkSpec& network,
                            const std::vector<GossipPeer>& peers,
                            const std::vector<std::uint64_t>& frames,
                            std::uint64_t seed);

/// Parameters of the closed forms for a step's wall-clock time, in seconds and bytes: Hockney's
/// alpha-beta model (see above) with one full-duplex card per machine.
struct WallClock {
  std::size_t peers = 1;
  double latency = 0;      ///< alpha, one way
  double bandwidth = 0;    ///< B, bytes per second of each card; 0: unlimited
  double model_bytes = 0;  ///< M
  double compute = 0;      ///< C, one gradient

  /// Ring all-reduce after the gradient: C + 2 (n - 1) alpha + 2 (n - 1) / n M / B. Patarasuk &
  /// Yuan, JPDC 2009.
  double ring_all_reduce() const;
  /// A synchronous parameter server with one card: C + 2 alpha + 2 n M / B, gathering and then
  /// scattering.
  double server() const;
  /// Gossip of `models` models per step: alpha + models M / B, concurrent with the gradient if
  /// `overlaps` (the order of Lian et al. 2017), else after it.
  double gossip(double models, bool overlaps) const;

 private:
  double bytes_seconds(double models) const;
};

}  // namespace gv
