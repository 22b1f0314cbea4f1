#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "optim/models/network_cut.h"
#include "optim/models/objective.h"

namespace gv {

/// One stage of a network that a chain of peers divides.
struct StageSpec {
  NeuralNetwork network;  ///< the whole network
  std::vector<Cut> cuts;  ///< between all stages of the chain
  std::uint32_t stage = 0;
  /// The number of this member. A stage between two neighbouring cuts may have members, which
  /// divide its layer if it is divisible (network_cut.h).
  std::uint32_t member = 0;
  std::uint32_t members = 1;
  std::uint32_t microbatches = 1;  ///< parts of a minibatch
  bool recompute = false;  ///< keeps only the input of a microbatch in flight: arXiv:1604.06174
  /// Maximum number of minibatches in flight. If above 1, the next goes forward before the one
  /// before has come back, and microbatches is 1.
  std::uint32_t minibatches = 1;
  /// The stage's copy number `copy` has the microbatches whose number is `copy` mod `copies`.
  std::uint32_t copies = 1;
  std::uint32_t copy = 0;
};

/// Makes the objective of a stage, for Objective::forward and backward: a microbatch's gradient has
/// the bits of the whole network's for its tensors. The first and the last stage draw each
/// minibatch when they get its first microbatch, identically if they have the same share; the
/// others draw none. Each batch norm uses the moments of its microbatch, as in arXiv:1811.06965,
/// section 2.2. A stage by itself has neither gradient nor evaluation. Its saved state is from
/// before the minibatches in flight: a process that resumes draws them again.
///
/// Throws std::invalid_argument if the network was made for other data.
std::unique_ptr<Objective> make_stage_objective(StageSpec spec, Share share);

/// One member of a stage whose layers several peers divide (network_cut.h). Its pieces, between all
/// cuts of the network, run in order: of n pieces the pass of microbatch k through piece p has
/// number k n + p, for Objective::forward and backward.
struct MemberSpec {
  NeuralNetwork network;    ///< the whole network
  std::vector<Cut> cuts;    ///< all places()
  std::uint32_t first = 0;  ///< first piece of the stage
  std::uint32_t end = 1;    ///< end of its pieces
  std::uint32_t microbatches = 1;
  bool recompute = false;
  std::uint32_t member = 0;
  std::uint32_t members = 1;
};

/// Makes the objective of a member. Its x is the x of its pieces, concatenated. Its start values
/// are its part of the whole network's.
std::unique_ptr<Objective> make_member_objective(const MemberSpec& spec, const Share& share);

}  // namespace gv
