#pragma once

#include <vector>

#include "peer/launch/peer_speeds.h"

namespace gv {

/// Measures how fast the programs of a fleet take their steps, each where its peer lives, and all
/// of them at once: what shares a machine in training shares it here. Each takes as many steps as
/// it is measured by (GRAPEVINE_TASK=measure), with what it trains and nobody to average with. Of
/// `flops` nothing is known. Throws std::runtime_error with the peer and its last words when one
/// ends before.
std::vector<PeerSpeed> measure_programs(const Fleet& fleet,
                                        Places& places,
                                        const PeerSpeedOptions& options);

}  // namespace gv
