#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "gossip/seam/message.h"
#include "gossip/seam/setup.h"
#include "gossip/seam/stage.h"
#include "gossip/seam/traffic.h"
#include "gossip/seam/world.h"
#include "graph/mixing/mixing.h"
#include "graph/schedule/schedule.h"
#include "graph/topology/topology.h"
#include "optim/range.h"

namespace gv {

class Actor;
class ServedMemory;
struct FoundErrors;

/// The part of the fleet's model that a peer's x is. At each coordinate the fleet's model is the
/// mean of its holders, by their weights.
struct Holding {
  std::size_t begin = 0;  ///< the coordinate of the model at which x begins
  /// The ranges of the model that x consists of, ascending. Empty if there is only one.
  std::vector<Range> ranges{};
  double weight = 1;  ///< 0: x is a copy of what others hold
  /// The model of which a stage of a chain has a part. None: all of a model, or a server's part.
  std::optional<PeerId> model{};
};

/// A peer's place in the tree that spans the fleet's links.
struct VerbTree {
  std::optional<PeerId> parent{};  ///< none at the root
  std::vector<PeerId> children{};  ///< ascending
  bool averages = false;           ///< neighbours have weights that stay (neighbor_average)
};

/// Work of a memory or an actor (experience.h) until a report.
struct ExperienceFigures {
  std::uint64_t frames = 0;  ///< actor: steps of its environments
  std::uint64_t taken = 0;   ///< memory: transitions since its warm-up
  std::uint64_t learnt = 0;  ///< memory: samples handed out within its limit
  std::uint64_t kept = 0;    ///< memory: transitions it holds
  PeerId actors = 0;         ///< memory: number of its actors that live

  /// Returns nothing before the end of the warm-up.
  std::optional<double> samples_per_insert() const {
    if (taken == 0) return {};
    return static_cast<double>(learnt) / static_cast<double>(taken);
  }
};

/// A peer's part in a fleet of agents whose actors are peers of their own: memory, actor or
/// learner.
struct ExperiencePart {
  std::shared_ptr<ServedMemory> memory{};
  std::shared_ptr<Actor> actor{};
  std::uint64_t model_every = 0;          ///< frames between two requests of an actor for its model
  std::shared_ptr<FoundErrors> judged{};  ///< learner only
  std::map<PeerId, std::uint32_t> strikes{};  ///< messages that a memory has refused, by sender
  /// State after the last completed job: reports may be made during the next one.
  ExperienceFigures figures{};

  static constexpr std::uint32_t most_strikes = 3;
  /// Returns whether this peer's messages are refused on arrival, which closes the link.
  bool shuts_out(PeerId from) const {
    const auto of = strikes.find(from);
    return of != strikes.end() && of->second >= most_strikes;
  }
};

/// Default deadline for a neighbour's part in a round.
inline constexpr Time usual_deadline = std::chrono::seconds(30);

/// One peer's plan of the run.
struct Plan {
  PeerId id = 0;
  PeerId peers = 1;  ///< all peers, servers included
  /// The method's knowledge of its fleet; null if this plan is all.
  std::shared_ptr<const Setup> setup{};
  bool trains = true;           ///< has data and a gradient; else it serves
  Holding holds{};              ///< the part of the fleet's model that it has
  Neighborhood neighborhood;    ///< row `id` of W, or the links of a schedule
  std::vector<PeerId> links{};  ///< other peers of its collectives; ascending
  /// W of every round, for a schedule over the neighbours above; null if one W holds in all rounds.
  std::shared_ptr<const MixingSchedule> schedule{};
  Traffic traffic{};  ///< traffic of averaging with the neighbours
  /// Weight of this peer, 1 on average: a flow moves it 1 / share as far. Push-sum: its least w.
  double share = 1;
  /// The peer's place in a chain of peers that divide each model. None: it has all of one.
  std::optional<StagePlan> stage{};
  /// True if it trains on minibatches that a data server sends, not on samples of its own.
  bool is_supplied = false;
  /// For a data server: returns minibatch `number` of `trainer`, packed; null if it cannot be had.
  std::function<Payload(PeerId trainer, std::uint64_t number)> samples_for{};
  /// Its part for agents whose actors are peers of their own (experience.h); null if none.
  std::shared_ptr<ExperiencePart> experience{};
  /// The tree along which the verbs of its program go; none if it has no verbs.
  std::optional<VerbTree> verbs{};
  std::vector<Channel> channels{};  ///< on which the algorithm sends and receives
  Round rounds = 0;                 ///< rounds to do
  Round evaluate_every = 0;         ///< rounds between reports; 0: only the last
  /// Period of reports by the training clock, in whatever round; 0: reports are by rounds.
  Time evaluate_period{0};
  Time clock_at_birth{0};         ///< the fleet's training clock when this life begins
  Round checkpoint_every = 0;     ///< rounds; 0: never
  std::uint32_t local_steps = 1;  ///< its own: Setup::steps_of
  std::uint32_t batch = 0;        ///< samples of a minibatch
  /// Metropolis weights from both ends' present degrees, of edges that take part; else always W_ij.
  bool live_degrees = false;
  /// A peer that was away continues in its neighbours' round; they end together.
  bool catch_up = false;
  /// Makes up for rounds alone before the end: see Peer::is_early().
  bool makes_up = false;
  /// A peer without any present neighbour keeps the pace that it had with its neighbours.
  bool keeps_pace = false;
  /// Its rounds end with its neighbours': see Peer::others_have_ended().
  bool ends_with_others = false;
  /// A dead neighbour's place may be taken by another process.
  bool successors = false;
  /// Follows a dead process of this peer: what was open between that process and the neighbours no
  /// longer counts, at either end.
  bool rejoins = false;
  bool fetch = false;              ///< begins with a neighbour's model, always
  Time deadline = usual_deadline;  ///< for a neighbour's part in a round; 0: none
  /// Silence after which a neighbour counts as away. A collective, which the deadline would end,
  /// waits at least twice as long, because until then the neighbour may still live.
  Time dead_after{0};
  /// Maximum wait at the end for absent peers: they may owe us half of an exchange, or we them.
  Time patience{std::chrono::seconds(3)};
  /// Maximum wait at the end for a neighbour that owes us half of an exchange and completes no
  /// round. A slow neighbour is waited for; one that is stuck or lies is not. 0: without end.
  Time standstill{0};
  /// Maximum wait for the successor of a dead process: at the end, and wherever the peer cannot
  /// continue without it.
  Time succession{0};
  /// Number of rounds with values that are not finite after which a neighbour is in quarantine.
  std::uint32_t strikes = 3;
};

/// Returns the peers that this plan's peer has links to, for averaging and collectives; ascending.
std::vector<PeerId> links_of(const Plan& plan);

}  // namespace gv
