#pragma once

#include <vector>

#include "gossip/seam/message.h"
#include "gossip/seam/setup.h"
#include "optim/train/replica.h"

namespace gv {

/// Return the peers that peer i exchanges messages with in a collective operation; ascending,
/// without i. The graph of the fleet plays no part.

/// The next and the previous peer in a ring of all.
std::vector<PeerId> ring_links(const Setup& setup, PeerId i);
/// For peer 0, which drives, all others; for the others, peer 0.
std::vector<PeerId> driver_links(const Setup& setup, PeerId i);
/// The ids that differ from i in one bit. n is a power of two.
std::vector<PeerId> doubling_links(const Setup& setup, PeerId i);
/// The first peer of the own machine; for it, the others there and its neighbours in the ring of
/// the machines' first peers.
std::vector<PeerId> host_links(const Setup& setup, PeerId i);

/// Return the channels of such operations on a model of d floats. Members are at most one operation
/// apart, so up to two messages wait.
std::vector<Channel> ring_channels(const Setup& setup, std::size_t d);
/// ring_channels() for operations that carry floats, whatever the fleet's codec.
std::vector<Channel> plain_ring_channels(const Setup& setup, std::size_t d);
std::vector<Channel> piece_channels(const Setup& setup, std::size_t d);  ///< driver, doubling
std::vector<Channel> host_channels(const Setup& setup, std::size_t d);

/// The peers of i's machine, ascending.
std::vector<PeerId> host_group(const Setup& setup, PeerId i);
/// The first peer of each machine, ascending.
std::vector<PeerId> first_of_hosts(const Setup& setup);

/// The geometry of a ring all-reduce over n peers: a vector of d floats in n nearly equal chunks.
/// Patarasuk & Yuan, "Bandwidth optimal all-reduce algorithms for clusters of workstations", JPDC
/// 2009.

inline PeerId ring_next(PeerId rank, PeerId n) {
  return (rank + 1) % n;
}
inline PeerId ring_previous(PeerId rank, PeerId n) {
  return (rank + n - 1) % n;
}

/// Chunk c of n: the first d % n chunks are one longer; empty where d < n.
inline Range ring_chunk(std::size_t d, PeerId n, PeerId c) {
  const std::size_t base = d / n;
  const std::size_t longer = d % n;
  return {c * base + (c < longer ? c : longer), base + (c < longer ? 1 : 0)};
}

/// The chunk that `sender` sends at hop s = 0 .. n - 2.
inline PeerId ring_sent_chunk(Kind kind, PeerId sender, std::uint32_t hop, PeerId n) {
  const PeerId first = kind == Kind::reduce ? sender : sender + 1;
  return (first + n - hop % n) % n;
}

}  // namespace gv
