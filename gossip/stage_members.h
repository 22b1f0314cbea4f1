#pragma once

#include <cstdint>
#include <vector>

#include "gossip/channel.h"
#include "gossip/message.h"
#include "gossip/stage_plan.h"
#include "gossip/task.h"

// What the members of a stage, who divide its layers (StagePlan::members), tell each other of a
// microbatch. Forward each sends the others its columns of what a divided layer computes, and goes
// on with all of them; on the way back each has the whole gradient by those, takes its own columns,
// and what its rows add to the gradient by the layer's input is a part of a sum, which each adds up
// in the order of the members. So all have the same bits of whatever they have whole.
//
// Per divided layer, row and member 4 (t - 1) (out / t + in) bytes go out, of t members; the first
// layer of the network has no gradient by its input, and sends 4 (t - 1) out / t.

namespace gv {

class Peer;

/// A microbatch on its way through the stage.
struct MemberPass {
  std::uint64_t minibatch = 0;
  std::uint32_t microbatch = 0;
};

/// Returns what comes out behind the stage; null at the last one. `flops`: of its way there. Throws
/// ChainEnded when a member has gone.
Task<Payload> go_forward(Peer& me, MemberPass pass, Payload in, double flops);

/// Does the same on the way back, of the gradient by what went out; at the last stage the loss is
/// added to `loss`, which outlives the task.
Task<Payload> go_back(Peer& me, MemberPass pass, Payload out, double flops, double& loss);

/// The members but this one; ascending.
std::vector<PeerId> other_members(const StagePlan& stage);
/// Returns whether this may come of a member on the channels of a chain.
bool fits_member(
    const StagePlan& stage, Kind kind, PeerId from, std::uint32_t part, std::size_t bytes);
/// The longest message of a member.
std::size_t most_member_bytes(const StagePlan& stage);

}  // namespace gv
