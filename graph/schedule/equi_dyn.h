#pragma once

#include "graph/mixing/mixing.h"
#include "graph/topology/splitmix.h"

namespace gv {

// Common parts of schedules in which a peer averages with at most one other per round.

/// Returns the generator of one round, which is the same on every peer.
SplitMix generator_of(std::uint64_t seed, std::uint64_t round);
/// Returns a row that averages with `partner` by `weight`; partner i itself means none.
Neighborhood pair_row(PeerId i, PeerId partner, double weight);

}  // namespace gv
