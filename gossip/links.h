#pragma once

#include <vector>

#include "gossip/channel.h"
#include "gossip/setup.h"

namespace gv {

/// Returns whom peer i talks to in a collective operation; ascending, without i. The graph of the
/// fleet has no part in them.

/// The next and the previous of a ring of all.
std::vector<PeerId> ring_links(const Setup& setup, PeerId i);
/// Everybody and peer 0, which drives.
std::vector<PeerId> driver_links(const Setup& setup, PeerId i);
/// The ids that differ from i in one bit. n is a power of two.
std::vector<PeerId> doubling_links(const Setup& setup, PeerId i);
/// The first peer of the own machine; for it, the others there and its neighbours in the ring of
/// the machines' first peers.
std::vector<PeerId> host_links(const Setup& setup, PeerId i);

/// Returns what may come on the channels of these operations on a model of d floats. A member is
/// ahead of another by one operation at most, so two of them wait.
std::vector<Channel> ring_channels(const Setup& setup, std::size_t d);
/// The same where they carry floats, whatever the fleet's codec.
std::vector<Channel> plain_ring_channels(const Setup& setup, std::size_t d);
std::vector<Channel> piece_channels(const Setup& setup, std::size_t d);  ///< driver, doubling
std::vector<Channel> host_channels(const Setup& setup, std::size_t d);

/// The peers of i's machine, ascending.
std::vector<PeerId> host_group(const Setup& setup, PeerId i);
/// The first peer of each machine, ascending.
std::vector<PeerId> first_of_hosts(const Setup& setup);

}  // namespace gv
