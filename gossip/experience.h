#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "gossip/seam/plan.h"
#include "gossip/seam/setup.h"
#include "gossip/seam/task.h"
#include "graph/topology/topology.h"

namespace gv {

// Agents that act, remember and learn in separate peers: actors send transitions to memories, and
// memories send minibatches to learners. A memory is a data server (supply.h) whose samples come
// from actors. Horgan et al. 2018, arXiv:1803.00933 (Ape-X); Nair et al. 2015, arXiv:1507.04296
// (Gorila). Learner i and actor a belong to memories i mod M and a mod M, actor a to learner a mod
// n; actors have the last ids.

class Peer;

/// A chunk of transitions (optim/rl/served_memory.h); `number` is the actor's.
inline constexpr Kind experience_kind{24};
/// The memory has a chunk; `number` is its round.
inline constexpr Kind taken_kind{25};
inline constexpr Kind wanted_kind{26};  ///< an actor asks for its learner's model
inline constexpr Kind model_kind{27};   ///< the answer to question `number`; `part` is the piece

/// Returns the actors, ascending; none if every agent acts itself.
std::vector<PeerId> actors(const Setup& setup);
/// Returns the peers that peer i exchanges such messages with; ascending. Needs actors.
std::vector<PeerId> experience_links(const Setup& setup, PeerId i);
/// Returns the channels of a peer with this part, for models of d floats.
std::vector<Channel> experience_channels(const Setup& setup,
                                         std::size_t d,
                                         const std::shared_ptr<const ExperiencePart>& part);

/// Returns the number of pieces in which a model of d floats travels.
std::uint32_t pieces_of(std::size_t d);
/// Advances to this round of the fleet, one round at a time unless it is far away.
Task<> follow(Peer& me, Round to);

/// The whole life of a memory, and of an actor.
Task<> remember(Peer& me);
Task<> act(Peer& me);

// For a learner.
/// Returns the payload of question `number`: the errors of minibatch `number` - 2; null if none.
Payload judgement_for(const Peer& me, std::uint64_t number);
/// Sends the present x to actors that have asked for it.
Task<> answer_actors(Peer& me);

}  // namespace gv
