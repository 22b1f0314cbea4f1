#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "graph/topology/topology.h"

namespace gv {

/// `parallel`: chains of peers divide each model (gossip/chain.h).
struct ParallelSpec {
  static constexpr std::uint32_t all = std::numeric_limits<std::uint32_t>::max();
  enum class Schedule : std::uint8_t {
    flush,      ///< a minibatch comes back whole before the next one goes forward
    pipedream,  ///< minibatches follow each other, on weights that are some steps old
  };

  PeerId stages = 1;  ///< of a chain
  /// The modules that the stages begin with; empty: stages of equal work.
  std::vector<std::string> names{};
  /// Peers of each stage, which share its microbatches; empty: one of each.
  std::vector<PeerId> copies{};
  PeerId tensor = 1;               ///< members of each stage, which divide its layers
  std::uint32_t microbatches = 1;  ///< of a minibatch
  std::uint32_t ahead = 2;         ///< microbatches for each stage behind; or `all`
  bool recompute = false;
  Schedule schedule = Schedule::flush;
  bool vertical_sync = false;   ///< pipedream: weights of one age at all stages
  std::vector<PeerId> place{};  ///< which of `peers` in the file each peer is; empty: as they stand

  ChainMap chains() const {
    if (tensor > 1) return ChainMap(std::vector<PeerId>(stages, tensor));
    return copies.empty() ? ChainMap(stages) : ChainMap(copies);
  }
};

/// As fleet files and JSON spell it.
inline std::string_view name_of(ParallelSpec::Schedule schedule) {
  return schedule == ParallelSpec::Schedule::flush ? "flush" : "pipedream";
}

}  // namespace gv
