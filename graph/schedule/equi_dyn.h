#pragma once

#include "graph/mixing/mixing.h"
#include "graph/topology/splitmix.h"

namespace gv {

// What the schedules have in common in which a peer averages with at most one other per round.

/// The generator of one round: every peer draws the same from it.
SplitMix generator_of(std::uint64_t seed, std::uint64_t round);
/// A row that averages with `partner` by `weight`; partner i itself means nobody.
Neighborhood pair_row(PeerId i, PeerId partner, double weight);

}  // namespace gv
