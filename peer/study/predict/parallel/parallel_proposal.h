#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "peer/fleet/specs.h"

namespace gv {

/// A way to train the fleet's model on its peers.
struct ParallelProposal {
  std::vector<std::string> stages{};  ///< the modules that they begin with
  std::vector<PeerId> place{};        ///< of the peers, stage by stage and chain by chain
  std::vector<PeerId> copies{};       ///< peers of each stage; empty: one of each
  PeerId tensor = 1;                  ///< members of each stage
  PeerId chains = 1;
  std::uint32_t batch = 1;  ///< of a chain and round
  std::uint32_t microbatches = 1;
  std::uint32_t ahead = 1;  ///< ParallelSpec::all: as many as there are
  bool recompute = false;
  ParallelSpec::Schedule schedule = ParallelSpec::Schedule::flush;
  bool vertical_sync = false;
  double seconds_per_round = 0;
  double samples_per_second = 0;
  double idle = 0;             ///< share of the peers' time in which they do not compute
  double bytes_per_round = 0;  ///< sent by the busiest peer
  double memory_bytes = 0;     ///< of the peer that needs most
  std::string bottleneck{};    ///< what a round would be shorter with less of

  /// Several peers train one model: else each has one of its own.
  bool is_divided() const { return stages.size() > 1 || !copies.empty() || tensor > 1; }
};

}  // namespace gv
