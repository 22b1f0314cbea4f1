#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "peer/fleet/model_profile.h"
#include "peer/runtime/assembly.h"

namespace gv {

/// A way to train the fleet's model on its peers.
struct ParallelProposal {
  std::vector<std::string> stages{};  ///< the modules that they begin with
  std::vector<PeerId> place{};        ///< of the peers, stage by stage and chain by chain
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
};

/// What dividing a model is worth beside copying it and beside one machine.
struct ParallelAdvice {
  enum class Way : std::uint8_t { pipeline, data_parallel, alone };

  std::vector<ParallelProposal> proposals{};      ///< pipelines, the fastest first
  std::vector<ParallelProposal> data_parallel{};  ///< the fleet's batch for each peer, and for all
  ParallelProposal alone{};                       ///< on the fastest peer
  double batch_to_hide = 0;  ///< samples of a peer and round behind which averaging hides
  Way way = Way::alone;
  std::string why{};
};

/// As fleet files and JSON spell it: pipeline, data-parallel, alone.
std::string name_of(ParallelAdvice::Way way);

/// Divides the fleet's model into 1 to n stages for its n peers, in as many chains as that leaves
/// of them; cuts by partition.h, times by timetable.h, and by the method's own rounds in virtual
/// time for the best. The fleet's batch is that of a chain and round, and the schedule is its own:
/// what another one would train is another model. `profile`: of its model.
/// `free_bytes`: what a peer's memory holds; 0: unknown. Throws std::invalid_argument for a model
/// without layers.
ParallelAdvice advise_parallel(const Assembly& fleet,
                               std::shared_ptr<const ModelProfile> profile,
                               double free_bytes);

}  // namespace gv
