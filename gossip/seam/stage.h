#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "gossip/seam/message.h"
#include "graph/topology/topology.h"

namespace gv {

/// Cost of a stage's work for each microbatch, in floating-point operations of a peer of speed 1.
struct StageWork {
  double forward = 0;
  double backward = 0;  ///< with recomputation
  double add = 0;       ///< adds its gradient to that of others
  double step = 0;      ///< for the whole minibatch
};

/// A part of a stage. Members compute one part after the other, and exchange results after each.
struct StagePiece {
  /// Floats of a microbatch that one member computes of the members' joint output.
  std::size_t columns = 0;
  std::size_t floats_in = 0;  ///< floats of a microbatch at its input; 0: those of the data
  bool divided = false;       ///< members divide its rows; else each computes all, alike
  double share = 1;           ///< fraction of the stage's work
};

/// The place of a peer in a chain of peers that divide a model (chain.h).
struct StagePlan {
  PeerId stage = 0;
  PeerId stages = 1;  ///< p
  /// Number of peers that have this stage; microbatch k of a minibatch goes to copy k mod copies.
  PeerId copies = 1;
  PeerId copy = 0;                 ///< index of this peer among the copies
  std::vector<PeerId> before{};    ///< the copies of the previous stage; none at the first
  std::vector<PeerId> behind{};    ///< the copies of the next stage
  std::vector<PeerId> alike{};     ///< all peers with the same part of a model, this one included
  std::uint32_t microbatches = 1;  ///< number in a minibatch, which the copies divide
  std::uint32_t ahead = 1;         ///< see window_of
  /// The peers that have one copy of the stage and divide its layers between them, this one
  /// included; ascending. Empty means this peer alone has it.
  std::vector<PeerId> members{};
  PeerId member = 0;                 ///< index of this peer among the members
  std::vector<StagePiece> pieces{};  ///< pieces of the stage, if members divide it
  bool recompute = false;            ///< each microbatch goes forward again when it comes back
  /// A minibatch comes back before the next goes forward; else weights have versions (below).
  bool flush = true;
  bool vertical_sync = false;  ///< without a flush: weights of one age at all stages
  std::size_t floats_in = 0;   ///< floats of a microbatch that cross the cut before it; 0: none
  std::size_t floats_out = 0;  ///< and the cut after it
  /// Cost by a profile; none: it is estimated from the replica's operations.
  std::optional<StageWork> measured{};
  /// Time that its messages may be under way in the fleet's own network, queued after averaging's:
  /// the others of its chain wait this much longer than faults.deadline.
  Time under_way{0};

  bool first() const { return stage == 0; }
  bool last() const { return stage + 1 == stages; }
  /// Returns the copy of the previous stage, or of the next one, that has microbatch k.
  PeerId from(std::uint32_t k) const { return before[k % before.size()]; }
  PeerId to(std::uint32_t k) const { return behind[k % behind.size()]; }
  /// Returns the number of this copy's microbatches in a minibatch.
  std::uint32_t own_microbatches() const { return (microbatches - copy + copies - 1) / copies; }
};

/// Returns the members other than this one; ascending.
std::vector<PeerId> other_members(const StagePlan& stage);
/// Returns the peers that a stage exchanges microbatches with, and its other members; ascending.
std::vector<PeerId> chain_links(const StagePlan& stage);

// The order in which a stage of a chain (chain.h) takes the microbatches of a minibatch. The window
// is the number of microbatches that the stage sends forward before the first comes back; Narayanan
// et al. 2021, arXiv:2104.04473, section 2.2, compare its two extremes.

/// One step of a stage, with one microbatch.
struct StageTurn {
  bool forward = true;  ///< else backward
  std::uint32_t microbatch = 0;

  bool operator==(const StageTurn&) const = default;
};

/// Returns how far ahead of its backward a stage of `stages` goes forward: `ahead` microbatches for
/// each later stage, and never past the last of `microbatches`. 1 is the schedule one forward, one
/// backward; the number of microbatches is GPipe's, except that the last stage goes back at once.
std::uint32_t window_of(std::uint32_t stage,
                        std::uint32_t stages,
                        std::uint32_t ahead,
                        std::uint32_t microbatches);

/// Returns the turns of a stage in one minibatch, in order: before the backward of microbatch j the
/// stage has gone forward with all up to j + window. At most window + 1 are under way at a time,
/// and as many values wait before the next stage, or gradients before this one. A chain whose
/// windows do not grow from stage to stage never stands still, however long its messages take. If
/// one grows, and is less than the number of microbatches, the chain always comes to a stop.
std::vector<StageTurn> turns(std::uint32_t microbatches, std::uint32_t window);

/// Returns the turns of one of the copies that share a stage's microbatches, k mod copies being its
/// own: replication in Narayanan et al. 2019, "PipeDream", SOSP, section 3.2. The window counts all
/// microbatches, so it has the same meaning for stages with unlike copies, and the rule above on
/// windows that do not grow still applies.
std::vector<StageTurn> turns_of_copy(std::vector<StageTurn> all, PeerId copies, PeerId copy);

// The weights that a stage of a chain (chain.h) uses for a minibatch. If a minibatch comes back
// before the next one goes forward, the stage uses the present weights. Without a flush other
// minibatches step between its way forward and its way back; a stage keeps old weights so that both
// ways use the same ones: weight stashing and vertical sync, Narayanan et al. 2019, "PipeDream",
// SOSP, section 3.3. Version j is x when gradient j begins, after averaging.

/// Returns the window of stage s in a chain of this plan. Without a flush one minibatch for each
/// later stage: just enough to keep all stages at work.
std::uint32_t window_of(const StagePlan& chain, PeerId s);

/// Returns the number of versions that a stage keeps besides x; the weights for a minibatch are
/// that many steps old at its gradient. Each stage has the newest it can, p - 1 - s of p; with
/// vertical sync all have the same, p - 1.
std::uint32_t kept_versions(const StagePlan& stage);

/// Returns the version of the stage's weights for a minibatch, in its forward and its backward
/// pass. Versions and minibatches count from 0. Minibatches before the first step use version 0.
std::uint64_t version_of(const StagePlan& stage, std::uint64_t minibatch);

/// Returns the vector in which a stage stores this version, in place of the oldest.
std::string name_of_version(const StagePlan& stage, std::uint64_t version);

}  // namespace gv
