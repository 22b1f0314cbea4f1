#pragma once

#include <vector>

#include "gossip/channel.h"
#include "optim/train/replica.h"

namespace gv {

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

/// The channels of both halves of a ring all-reduce. A neighbour is ahead by a way round at most.
inline std::vector<Channel> ring_channels(PeerId n, std::size_t d) {
  std::vector<Channel> channels;
  for (const Kind kind : {Kind::reduce, Kind::gather}) {
    channels.push_back({kind,
                        [=](PeerId from, std::uint32_t hop, std::size_t bytes) {
                          const PeerId chunk = ring_sent_chunk(kind, from, hop, n);
                          return hop + 1 < n &&
                                 bytes == ring_chunk(d, n, chunk).count * sizeof(float);
                        },
                        2 * n});
  }
  return channels;
}

}  // namespace gv
