#pragma once

#include "peer/runtime/assembly.h"

namespace gv {

/// What a round of a fleet costs, by the alpha-beta model (network/round_model.h) of its `network`
/// and the compute speed of `simulate`.
struct RoundPrediction {
  double seconds_per_round = 0;
  double network_seconds = 0;  ///< of which the peers do nothing but wait for each other
  double compute_seconds = 0;  ///< the slowest peer's arithmetic; of a dry run, all that remains
                               ///< over a network that takes no time
  double bytes_per_round = 0;  ///< out of the busiest peer
};

/// By closed forms for d-psgd and the ring all-reduce; of the other methods by a dry run.
RoundPrediction predict_round(const Assembly& fleet);
/// The same peers, model and network, with gossip over another graph or schedule. The fleet's own
/// algorithm must be one that averages over a topology.
RoundPrediction predict_gossip_round(const Assembly& fleet, const MixingSchedule& schedule);
/// The same with ring all-reduce.
RoundPrediction predict_all_reduce_round(const Assembly& fleet);

/// How many models the busiest peer sends in a round of a schedule: the mean over a period, or over
/// some rounds of a random one.
double busiest_receivers(const MixingSchedule& schedule);

}  // namespace gv
