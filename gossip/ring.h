#pragma once

#include "gossip/message.h"
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

}  // namespace gv
