#pragma once

#include <vector>

#include "peer/launch/peer_speeds.h"

namespace gv {

/// Measures how fast the programs of a fleet take their steps, each in its peer's place and all at
/// the same time, so that peers share a machine as in training. Each program takes its number of
/// measured steps (GRAPEVINE_TASK=measure) without averaging. `flops` stays unknown. Throws
/// std::runtime_error with the peer and its last words if one ends too early.
std::vector<PeerSpeed> measure_programs(const Fleet& fleet,
                                        Places& places,
                                        const PeerSpeedOptions& options);

}  // namespace gv
