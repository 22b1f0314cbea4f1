#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "gossip/message.h"
#include "graph/topology/topology.h"

namespace gv {

/// What a stage's work takes of each microbatch, in floating-point operations of a peer of speed 1.
struct StageWork {
  double forward = 0;
  double backward = 0;  ///< with what is computed once more
  double add = 0;       ///< its gradient to that of others
  double step = 0;      ///< of the whole minibatch
};

/// A part of a stage that members compute one after the other, with a word to each other behind it.
struct StagePiece {
  std::size_t columns = 0;    ///< floats of a microbatch that a member computes of what all compute
  std::size_t floats_in = 0;  ///< of a microbatch that it begins with; 0: those of the data
  bool divided = false;       ///< its rows: else each member computes all of it, alike
  double share = 1;           ///< of the stage's work
};

/// The place of a peer in a chain of peers that divide a model (chain.h).
struct StagePlan {
  PeerId stage = 0;
  PeerId stages = 1;  ///< p
  /// The peers that have this stage of the chain: microbatch k of each minibatch goes to copy
  /// k mod copies.
  PeerId copies = 1;
  PeerId copy = 0;                 ///< which of them this one is
  std::vector<PeerId> before{};    ///< the copies of the stage before it; of the first one none
  std::vector<PeerId> behind{};    ///< and of the one behind it
  std::vector<PeerId> alike{};     ///< all that have the same part of a model, this peer as well
  std::uint32_t microbatches = 1;  ///< of a minibatch, which they divide
  std::uint32_t ahead = 1;         ///< see window_of
  /// The peers that have one copy of the stage and divide its layers between them, this one as
  /// well; ascending. Empty: this peer alone has it.
  std::vector<PeerId> members{};
  PeerId member = 0;                 ///< which of them this one is
  std::vector<StagePiece> pieces{};  ///< of the stage, where members divide it
  bool recompute = false;            ///< each microbatch goes forward once more as it comes back
  /// A minibatch comes back before the next one goes forward; else weights have versions (below).
  bool flush = true;
  bool vertical_sync = false;  ///< without a flush: weights of one age at all stages
  std::size_t floats_in = 0;   ///< of a microbatch that cross the cut before it; 0: none does
  std::size_t floats_out = 0;  ///< and the one behind it
  std::optional<StageWork> measured{};  ///< by a profile; nothing: by the replica's operations
  /// For which its messages may be under way in the fleet's own network, behind those of averaging:
  /// the others of its chain wait so much longer than faults.deadline.
  Time under_way{0};

  bool first() const { return stage == 0; }
  bool last() const { return stage + 1 == stages; }
  /// Name the copy of the stage before, and of the one behind, that has microbatch k, too.
  PeerId from(std::uint32_t k) const { return before[k % before.size()]; }
  PeerId to(std::uint32_t k) const { return behind[k % behind.size()]; }
  /// Counts the microbatches of a minibatch that are this copy's.
  std::uint32_t own_microbatches() const { return (microbatches - copy + copies - 1) / copies; }
};

// In which order a stage of a chain (chain.h) takes the microbatches of a minibatch. How many it
// sends forward before the first comes back is its window; Narayanan et al. 2021, arXiv:2104.04473,
// section 2.2, compare the two ends of what it may be.

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

// Which weights a stage of a chain (chain.h) has for a minibatch. Where a minibatch comes back
// before the next one goes forward, those of now. Without a flush other minibatches step between
// its way there and its way back, and so that both meet the same weights a stage keeps old ones:
// weight stashing and vertical sync, Narayanan et al. 2019, "PipeDream", SOSP, section 3.3. Version
// j is x as it is when gradient j begins; what averaging adds between two gradients is in it.

/// The window of stage s in a chain of this plan. Without a flush one minibatch for
/// each stage behind it: as many as keep all of them at work, and no more.
std::uint32_t window_of(const StagePlan& chain, PeerId s);

/// How many versions a stage keeps beside x; as many steps old are the weights for a minibatch at
/// its gradient. Each stage has them as new as it can, p - 1 - s of p; with vertical sync all have
/// the same, p - 1.
std::uint32_t kept_versions(const StagePlan& stage);

/// The version of the stage's weights for a minibatch, both ways; counted from 0, as minibatches
/// are. Those before the first step are of version 0.
std::uint64_t version_of(const StagePlan& stage, std::uint64_t minibatch);

/// The vector in which a stage that keeps versions keeps this one, instead of the oldest.
std::string name_of_version(const StagePlan& stage, std::uint64_t version);

}  // namespace gv
