#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "optim/models/network_cut.h"
#include "optim/models/objective.h"

namespace gv {

/// One stage of a network that a chain of peers divides between them.
struct StageSpec {
  NeuralNetwork network;  ///< the whole
  std::vector<Cut> cuts;  ///< between all stages of the chain
  std::uint32_t stage = 0;
  /// A stage between two neighbouring cuts may have members, which divide its layer if that can be
  /// divided (network_cut.h): the number of this member.
  std::uint32_t member = 0;
  std::uint32_t members = 1;
  std::uint32_t microbatches = 1;  ///< of a minibatch, which they divide
  bool recompute = false;  ///< of a microbatch under way, its input alone is kept: arXiv:1604.06174
  /// The number that may be under way at a time. More than one: the next goes forward before the
  /// one before has come back, and they have no microbatches.
  std::uint32_t minibatches = 1;
  /// It has each of the microbatches whose number is `copy` mod `copies`; others have the rest.
  std::uint32_t copies = 1;
  std::uint32_t copy = 0;
};

/// The objective of a stage, for Objective::forward and backward: a microbatch's gradient has the
/// bits that the whole network would find for its tensors. The first and the last stage draw each
/// minibatch at the first microbatch they have, alike when they have the same share; the others
/// need none. Each batch norm takes the moments of its microbatch, as in arXiv:1811.06965,
/// section 2.2. Alone a stage has neither gradient nor evaluation. What it saves stands before the
/// minibatches that are under way: whoever goes on from there draws them again.
///
/// Throws std::invalid_argument when the network was made for other data.
std::unique_ptr<Objective> make_stage_objective(StageSpec spec, Share share);

/// One member of a stage whose layers several peers divide between them (network_cut.h). Its
/// pieces, between all cuts that the network has, go one after the other: of n pieces the pass of
/// microbatch k through piece p is number k n + p, for Objective::forward and backward.
struct MemberSpec {
  NeuralNetwork network;    ///< the whole
  std::vector<Cut> cuts;    ///< all places()
  std::uint32_t first = 0;  ///< of the pieces between them,
  std::uint32_t end = 1;    ///< those of the stage
  std::uint32_t microbatches = 1;
  bool recompute = false;
  std::uint32_t member = 0;
  std::uint32_t members = 1;
};

/// The x of a member is that of its pieces, one behind the other. In its first weights it has of
/// the whole network's what is its own.
std::unique_ptr<Objective> make_member_objective(const MemberSpec& spec, const Share& share);

}  // namespace gv
