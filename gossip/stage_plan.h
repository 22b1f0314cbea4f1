#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
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
  std::uint32_t ahead = 1;         ///< see window_of (stage_turns.h)
  /// The peers that have one copy of the stage and divide its layers between them, this one as
  /// well; ascending. Empty: this peer alone has it.
  std::vector<PeerId> members{};
  PeerId member = 0;                 ///< which of them this one is
  std::vector<StagePiece> pieces{};  ///< of the stage, where members divide it
  bool recompute = false;            ///< each microbatch goes forward once more as it comes back
  /// A minibatch comes back before the next one goes forward; else see stage_versions.h.
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

}  // namespace gv
