#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "gossip/message.h"

namespace gv {

/// An interval that a peer spent in one state (metrics.h); seconds since the run began.
struct Moment {
  Round round = 0;
  std::size_t activity = 0;  ///< index in activity_names
  double begin = 0, end = 0;
  std::optional<PeerId> with{};  ///< neighbour that the peer waited for
};

/// Sums over `span` rounds of a peer, from `round` on.
struct RoundSums {
  Round round = 0;
  double span = 1;
  double begin = 0;  ///< seconds
  double bytes = 0;  ///< bytes sent
  double staleness = 0;
  double queue = 0;
};

struct PeerMoments {
  PeerId peer = 0;
  std::vector<Moment> moments{};  ///< moments of all its lives, in the order of the files
  std::vector<RoundSums> rounds{};
};

/// Range of rounds, both ends included.
struct RoundRange {
  Round first = 0;
  Round last = 0;
};

/// Reads the records of the rounds in `range` from peers/NNN/moments.K.npy and rounds.K.npy. Throws
/// std::runtime_error with path and row if a file is damaged, and with a sentence if the run
/// recorded no moments at all.
std::vector<PeerMoments> read_moments(const std::string& folder, const RoundRange& range);

}  // namespace gv
