#pragma once

#include <cstdint>
#include <string>

#include "gossip/stage_plan.h"

// Which weights a stage of a chain (chain.h) has for a minibatch. Where a minibatch comes back
// before the next one goes forward, those of now. Without a flush other minibatches step between
// its way there and its way back, and so that both meet the same weights a stage keeps old ones:
// weight stashing and vertical sync, Narayanan et al. 2019, "PipeDream", SOSP, section 3.3. Version
// j is x as it is when gradient j begins; what averaging adds between two gradients is in it.

namespace gv {

/// The window (stage_turns.h) of stage s in a chain of this plan. Without a flush one minibatch for
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
