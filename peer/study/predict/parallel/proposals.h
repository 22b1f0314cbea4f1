#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "peer/study/predict/parallel/strategy.h"

namespace gv {

/// Says what dividing a model is worth beside copying it and beside one machine.
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

/// What a round of this way would be shorter with less of.
std::string bottleneck_of(const StrategyCosts& costs,
                          const Strategy& d,
                          const ParallelProposal& in_rounds);

/// Divides the fleet's model into 1 to n stages for its n peers as they stand, in as many chains as
/// that leaves of them; cuts by partition.h, times by timetable.h, and by the method's own rounds
/// in virtual time for the best. The fleet's batch is that of a chain and round, and the schedule
/// is its own: what another one would train is another model. Throws std::invalid_argument for a
/// model without layers.
ParallelAdvice advise_parallel(const StrategyCosts& costs);

/// Takes in what a search has found, where it is faster, and advises again.
void add_found(ParallelAdvice& advice, const ParallelProposal& found);

}  // namespace gv
