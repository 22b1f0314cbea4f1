#pragma once

#include "peer/runtime/assembly.h"

namespace gv {

/// What a round of a fleet costs, by the alpha-beta model (network/round_model.h) of its `network`
/// and the compute speed of `simulate`.
struct RoundPrediction {
  double seconds_per_round = 0;
  double network_seconds = 0;  ///< of which the peers do nothing but wait for each other
  double compute_seconds = 0;  ///< the slowest peer's gradients and steps
  double bytes_per_round = 0;  ///< out of the busiest peer
};

RoundPrediction predict_round(const Assembly& fleet);

}  // namespace gv
