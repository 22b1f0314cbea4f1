#pragma once

#include <vector>

#include "peer/runtime/assembly.h"

namespace gv {

/// The places of peers on a fleet's graph. The spectrum of W, and so the rounds to a target, is the
/// same wherever they stand; the seconds of a round are not.
struct Placement {
  std::vector<PeerId> peers;       ///< peers[k] takes the place that peer k has by its number
  Topology graph;                  ///< the fleet's own, with the places taken so
  double seconds_as_numbered = 0;  ///< per round, predicted
  double seconds = 0;              ///< the same of this placement, never more
  std::size_t tried = 0;           ///< swaps of two peers
};

/// Local search: of two peers that are drawn at random, the places are swapped where the predicted
/// seconds per round do not grow (round_model.h). Where the best of them is not five per cent
/// shorter than the order of the file, that one stays. Only for gossip on a graph that stays;
/// throws std::invalid_argument with the reason for other fleets.
Placement best_placement(const Assembly& fleet);

}  // namespace gv
