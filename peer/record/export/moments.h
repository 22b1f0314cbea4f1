#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "gossip/message.h"

namespace gv {

/// A stretch of time that a peer spent in one state (metrics.h); seconds of its run.
struct Moment {
  Round round = 0;
  std::size_t activity = 0;  ///< its place in activity_names
  double begin = 0, end = 0;
  std::optional<PeerId> with{};  ///< the neighbour that it waited for
};

/// A row of a peer's rounds: sums over `span` rounds from `round` on.
struct RoundSums {
  Round round = 0;
  double span = 1;
  double begin = 0;  ///< seconds
  double bytes = 0;  ///< sent
  double staleness = 0;
  double queue = 0;
};

struct PeerMoments {
  PeerId peer = 0;
  std::vector<Moment> moments{};  ///< of all its lives, in the order of the files
  std::vector<RoundSums> rounds{};
};

/// First to last, both included.
struct RoundRange {
  Round first = 0;
  Round last = 0;
};

/// Reads what the peers of a run folder recorded of the rounds in range, from
/// peers/NNN/moments.K.npy and rounds.K.npy. Throws std::runtime_error with path and row on damage,
/// and a sentence where the run recorded no moments at all.
std::vector<PeerMoments> read_moments(const std::string& folder, const RoundRange& range);

}  // namespace gv
