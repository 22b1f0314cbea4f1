#pragma once

#include <cstdint>
#include <vector>

#include "graph/topology/topology.h"

// In which order a stage of a chain (chain.h) takes the microbatches of a minibatch. How many it
// sends forward before the first comes back is its window; Narayanan et al. 2021, arXiv:2104.04473,
// section 2.2, compare the two ends of what it may be.

namespace gv {

/// What a stage does with one microbatch.
struct StageTurn {
  bool forward = true;  ///< else backward
  std::uint32_t microbatch = 0;

  bool operator==(const StageTurn&) const = default;
};

/// How far ahead of its backward a stage of `stages` goes forward: `ahead` microbatches for each
/// stage behind it, and never past the last of `microbatches`. 1 is the schedule that is known as
/// one forward, one backward; as many as there are microbatches is GPipe's, but that the last stage
/// goes back at once.
std::uint32_t window_of(std::uint32_t stage,
                        std::uint32_t stages,
                        std::uint32_t ahead,
                        std::uint32_t microbatches);

/// The turns of a stage in one minibatch, in their order: before the backward of microbatch j it
/// has gone forward with all up to j + window. At most window + 1 are under way at a time, and as
/// many values wait before the next stage, or gradients behind it. A chain whose windows do not
/// grow from stage to stage never stands still, however long its messages take; where one grows,
/// and is less than the number of microbatches, it always does.
std::vector<StageTurn> turns(std::uint32_t microbatches, std::uint32_t window);

/// Of those the turns of one of the copies that share a stage's microbatches, k mod copies being
/// its own: replication in Narayanan et al. 2019, "PipeDream", SOSP, section 3.2. The window counts
/// all microbatches, so that it means the same of stages with unlike copies: what is said above of
/// windows that do not grow holds of them, too.
std::vector<StageTurn> turns_of_copy(std::vector<StageTurn> all, PeerId copies, PeerId copy);

}  // namespace gv
