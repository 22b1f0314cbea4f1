#pragma once

#include "graph/topology/topology.h"

namespace gv {

/// Same arguments, same graph, on every machine. All throw std::invalid_argument on impossible
/// parameters.

/// Simple, connected, every degree d: half-edges joined one suitable pair after the other, begun
/// again when stuck (Steger & Wormald 1999); above n / 2 the complement of such a graph. n d must
/// be even, d < n.
Topology random_regular(PeerId n, PeerId degree, std::uint64_t seed);
/// Every edge with probability p; may be disconnected. Gilbert 1959.
Topology erdos_renyi(PeerId n, double p, std::uint64_t seed);
/// Watts & Strogatz, "Collective dynamics of small-world networks", Nature 1998; k even, k < n.
Topology small_world(PeerId n, PeerId k, double beta, std::uint64_t seed);

}  // namespace gv
