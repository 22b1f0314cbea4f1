#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "graph/topology/topology.h"

namespace gv {

/// `parallel`: chains of peers divide each model (gossip/chain.h).
struct ParallelSpec {
  static constexpr std::uint32_t all = std::numeric_limits<std::uint32_t>::max();

  PeerId stages = 1;  ///< peers of a chain
  /// The modules that the stages begin with; empty: stages of equal work.
  std::vector<std::string> names{};
  std::uint32_t microbatches = 1;  ///< of a minibatch
  std::uint32_t ahead = 2;         ///< microbatches for each stage behind; or `all`
  bool recompute = false;
  std::vector<PeerId> place{};  ///< which of `peers` in the file each peer is; empty: as they stand
};

}  // namespace gv
