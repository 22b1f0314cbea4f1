#pragma once

#include <vector>

#include "gossip/setup.h"

namespace gv {

/// Whom peer i talks to in a collective operation; ascending, without i. The graph of the fleet has
/// no part in them.

/// The next and the previous of a ring of all.
std::vector<PeerId> ring_links(const Setup& setup, PeerId i);
/// Everybody and peer 0, which drives.
std::vector<PeerId> driver_links(const Setup& setup, PeerId i);
/// The ids that differ from i in one bit. n is a power of two.
std::vector<PeerId> doubling_links(const Setup& setup, PeerId i);
/// The first peer of the own machine; for it, the others there and its neighbours in the ring of
/// the machines' first peers.
std::vector<PeerId> host_links(const Setup& setup, PeerId i);

/// The peers of i's machine, ascending.
std::vector<PeerId> host_group(const Setup& setup, PeerId i);
/// The first peer of each machine, ascending.
std::vector<PeerId> first_of_hosts(const Setup& setup);

}  // namespace gv
