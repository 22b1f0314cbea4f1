#pragma once

#include <memory>
#include <vector>

#include "peer/runtime/assembly.h"

namespace gv {

/// The cost of a fleet's round, by the alpha-beta model (study/predict/forecast/round_model.h) of
/// its `network` and the compute speed of `simulate`.
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

}  // namespace gv
