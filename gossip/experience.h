#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "gossip/message.h"
#include "gossip/setup.h"
#include "gossip/task.h"
#include "graph/topology/topology.h"

namespace gv {

/// The work that a memory or an actor (experience.h) has done until a report.
struct ExperienceFigures {
  std::uint64_t frames = 0;  ///< of an actor: steps of its environments
  std::uint64_t taken = 0;   ///< of a memory: transitions since its warm-up
  std::uint64_t learnt = 0;  ///< and samples that it has handed out within its limit
  std::uint64_t kept = 0;    ///< transitions that are there
  PeerId actors = 0;         ///< of its actors, those that live

  /// Nothing before the end of the warm-up.
  std::optional<double> samples_per_insert() const {
    if (taken == 0) return {};
    return static_cast<double>(learnt) / static_cast<double>(taken);
  }
};

// Agents whose acting, remembering and learning are peers of their own: actors send transitions to
// memories, and memories send minibatches to those that train. A memory is a data server (supply.h)
// whose samples come from actors. Horgan et al. 2018, arXiv:1803.00933 (Ape-X); Nair et al. 2015,
// arXiv:1507.04296 (Gorila). Learner i and actor a belong to memories i mod M and a mod M, actor a
// to learner a mod n; actors have the last ids.

class Actor;
class Peer;
class ServedMemory;
struct FoundErrors;

/// A chunk of transitions (optim/rl/served_memory.h); `number` is the actor's.
inline constexpr Kind experience_kind{24};
/// The memory has a chunk; `number` is its round.
inline constexpr Kind taken_kind{25};
inline constexpr Kind wanted_kind{26};  ///< an actor asks for its learner's model
inline constexpr Kind model_kind{27};   ///< the answer to question `number`; `part` is the piece

/// The work of a peer of such a fleet for the agents: one of the three is there.
struct ExperiencePart {
  std::shared_ptr<ServedMemory> memory{};
  std::shared_ptr<Actor> actor{};
  std::uint64_t model_every = 0;              ///< frames from one look of the actor at its model on
  std::shared_ptr<FoundErrors> judged{};      ///< of a learner
  std::map<PeerId, std::uint32_t> strikes{};  ///< by whom: messages that a memory has refused
  /// The state after its last ended job: somebody may look while the next one is under way.
  ExperienceFigures figures{};

  static constexpr std::uint32_t most_strikes = 3;
  /// Returns whether nothing is taken of this peer any more: its messages are refused where they
  /// come in, which closes the link.
  bool shuts_out(PeerId from) const {
    const auto of = strikes.find(from);
    return of != strikes.end() && of->second >= most_strikes;
  }
};

/// Actors, ascending; empty: every agent acts itself.
std::vector<PeerId> actors(const Setup& setup);
/// Returns whom peer i has to do with because of all that; ascending. Of a fleet with actors.
std::vector<PeerId> experience_links(const Setup& setup, PeerId i);
/// Returns what may come to the peer with this part, for models of d floats.
std::vector<Channel> experience_channels(const Setup& setup,
                                         std::size_t d,
                                         const std::shared_ptr<const ExperiencePart>& part);

/// Pieces in which a model of d floats travels.
std::uint32_t pieces_of(std::size_t d);
/// Goes on to this round of the fleet: one by one where that is near, as while nothing is wrong.
Task<> follow(Peer& me, Round to);

/// The whole life of a memory, and of an actor.
Task<> remember(Peer& me);
Task<> act(Peer& me);

// Of a learner.
/// Returns what goes with the question for minibatch `number`: how wrong the last but one before it
/// was. Null: nothing.
Payload judgement_for(const Peer& me, std::uint64_t number);
/// Gives x as it is now to those actors that have asked for it.
Task<> answer_actors(Peer& me);

}  // namespace gv
