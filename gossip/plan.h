#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "gossip/message.h"
#include "gossip/setup.h"
#include "gossip/stage.h"
#include "gossip/traffic.h"
#include "gossip/verb.h"
#include "gossip/world.h"
#include "graph/mixing/mixing.h"
#include "graph/schedule/schedule.h"
#include "graph/topology/topology.h"
#include "optim/range.h"

namespace gv {

/// The part that a peer's x is of the fleet's model, which is at each coordinate the mean of those
/// that hold it, by their weights.
struct Holding {
  std::size_t begin = 0;  ///< the coordinate of the model at which x begins
  /// Where x is several ranges of the model, one behind the other: they, ascending. Empty: one
  /// range.
  std::vector<Range> ranges{};
  double weight = 1;  ///< 0: x is a copy of what others hold
  /// The model of which a stage of a chain has a part. Nothing: all of one, or a server's
  /// part.
  std::optional<PeerId> model{};
};

struct ExperiencePart;

/// For a neighbour's part in a round, unless a fleet says something else.
inline constexpr Time usual_deadline = std::chrono::seconds(30);

/// What one peer is told about the run.
struct Plan {
  PeerId id = 0;
  PeerId peers = 1;  ///< all of them, those that serve as well
  /// What the method knows of its fleet; null: nothing beyond this plan.
  std::shared_ptr<const Setup> setup{};
  bool trains = true;           ///< has data and a gradient; else it serves
  Holding holds{};              ///< what of the fleet's model it has
  Neighborhood neighborhood;    ///< row `id` of W; of a schedule: its links
  std::vector<PeerId> links{};  ///< whom its collective operations talk to besides; ascending
  /// W of every round instead, of the neighbours above; null: one W for all.
  std::shared_ptr<const MixingSchedule> schedule{};
  Traffic traffic{};  ///< of averaging with the neighbours
  /// How much it counts, 1 on average: a flow moves it by so much less. Of push-sum: its least w.
  double share = 1;
  /// Where a chain of peers divides each model: its place there. Nothing: it has all of one.
  std::optional<StagePlan> stage{};
  /// It trains on minibatches that a data server sends it, not on samples of its own.
  bool is_supplied = false;
  /// Of a data server: minibatch `number` of who trains, packed; null: it is not to be had.
  std::function<Payload(PeerId trainer, std::uint64_t number)> samples_for{};
  /// What it does for agents whose actors are peers of their own (experience.h); null: nothing.
  std::shared_ptr<ExperiencePart> experience{};
  /// Along which the verbs of its program go; nothing: it has none.
  std::optional<VerbTree> verbs{};
  std::vector<Channel> channels{};  ///< on which the algorithm sends and receives
  Round rounds = 0;                 ///< rounds to do
  Round evaluate_every = 0;         ///< rounds between reports; 0: only the last
  /// Between reports by the training clock instead, whatever round that is; 0: by rounds.
  Time evaluate_period{0};
  Time clock_at_birth{0};         ///< the fleet's training clock when this life begins
  Round checkpoint_every = 0;     ///< rounds; 0: never
  std::uint32_t local_steps = 1;  ///< its own: Setup::steps_of
  std::uint32_t batch = 0;        ///< samples of a minibatch
  /// Metropolis weights of the edges that take part, from both ends' degrees of the moment; else
  /// W_ij whatever happens.
  bool live_degrees = false;
  /// A peer that was away goes on in its neighbours' round; they end together.
  bool catch_up = false;
  /// While none of its neighbours is there, it goes on at the pace that it had in company.
  bool keeps_pace = false;
  /// Its rounds end when all neighbours that are there have done all of theirs.
  bool ends_with_others = false;
  /// Where one of its neighbours' processes has died, another one may take its place.
  bool successors = false;
  /// Follows a process of this peer that has died: what stood between that one and the neighbours
  /// counts no more, at either end.
  bool rejoins = false;
  bool fetch = false;              ///< begins with a neighbour's model, always
  Time deadline = usual_deadline;  ///< for a neighbour's part in a round; 0: none
  /// Of silence, and a neighbour counts as away. A collective, which the deadline would end, waits
  /// for at least twice as long: until then nobody knows whether the neighbour lives.
  Time dead_after{0};
  /// At the end, for those who are away: they may owe us half of an exchange, or we them.
  Time patience{std::chrono::seconds(3)};
  /// At the end, for a neighbour that owes us half of an exchange and completes no round:
  /// a slow one is waited for, one that is stuck or lies is not. 0: without end.
  Time standstill{0};
  /// For the successor of a process that has died: at the end, and wherever nothing goes on without
  /// it.
  Time succession{0};
  std::uint32_t strikes = 3;  ///< rounds with values that are not finite, and a neighbour is out
};

/// Whom the peer of this plan has links to: its neighbours, and those of its collective operations;
/// ascending.
std::vector<PeerId> links_of(const Plan& plan);

}  // namespace gv
