#pragma once

#include <cstdint>
#include <memory>

#include "optim/train/stage_objective.h"

namespace gv {

/// One member of a stage whose layers several peers divide between them (member_part.h). Its
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
