#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "gossip/costs.h"
#include "gossip/experience.h"
#include "gossip/message.h"
#include "gossip/plan.h"
#include "gossip/traffic.h"
#include "gossip/world.h"
#include "optim/models/objective.h"

namespace gv {

/// The clipping of what came from one peer, in the life of another one (clipping.h, norms.h).
struct ClippedFlows {
  PeerId of = 0;
  std::uint64_t exchanges = 0;  ///< of which something was clipped
  std::uint64_t far = 0;        ///< those in which it was further away than honest peers are
  std::uint64_t still = 0;      ///< those in which its model stood still while ours moved
  double steps = 0;  ///< how far all that counted has moved us, in steps of an honest peer's
  bool operator==(const ClippedFlows&) const = default;
};

/// The place where a peer's exchanges with one neighbour ended. Both ends of an edge end at the
/// same place, or flows count at one end only.
struct EdgeEnd {
  PeerId with = 0;
  ExchangeNumber exchange{};  ///< of the one left open, or of the next one
  std::uint32_t pieces = 0;   ///< of the one left open, applied here
};

/// A rise of the loss at once that training does not cause (reports.h).
struct LossRise {
  Round round = 0;  ///< in which it was found
  double from = 0;  ///< what it was until then
  double to = 0;    ///< not finite: it is lost
  bool operator==(const LossRise&) const = default;
};

/// The rounds that a peer ended alone, sooner than its pace lets it (pace_watch.h).
struct RunAhead {
  Round first = 0;   ///< the round in which it was found
  Round rounds = 0;  ///< that ended too soon
  Time usual{0};     ///< length of a round in company
  bool operator==(const RunAhead&) const = default;
};

/// An edge over which nothing has flowed to the end, although its neighbour was there.
struct SilentEdge {
  PeerId with = 0;
  Round since = 0;   ///< the round of the last flow
  Round rounds = 0;  ///< own rounds ended since then while the neighbour was here
  bool operator==(const SilentEdge&) const = default;
};

/// The account that a peer gives of itself at an evaluation: its own test figures and its vector,
/// for whoever watches the fleet.
struct Report {
  PeerId peer = 0;
  Round round = 0;  ///< rounds completed
  /// The periods that the training clock counts, of an evaluation by time; 0: it is by rounds.
  std::uint64_t tick = 0;
  Time due{0};        ///< what that clock shows then
  bool last = false;  ///< the peer has stopped; `model` is its final replica
  /// Mean minibatch loss since the last report; unknown_figure() if there was no minibatch.
  double train_loss = 0;
  bool trains = true;     ///< else `train_loss` and `evaluation` say nothing
  Holding holds{};        ///< what `model` is of the fleet's
  Evaluation evaluation;  ///< of the local model
  /// The neighbour that died or got stuck, so that a collective could not be completed and the
  /// algorithm ended before its last round.
  std::optional<PeerId> broken_by{};
  /// The neighbour that finished before this peer, so that a collective could not be completed.
  std::optional<PeerId> left_by{};
  std::vector<ClippedFlows>
      clipped{};  ///< ascending by peer; those of whom nothing was are not here
  /// The ends of edges, in the last report; ascending by peer. Of edges whose two ends are the
  /// processes that the run began with: a successor begins a conversation of its own.
  std::vector<EdgeEnd> edges{};
  std::optional<LossRise> loss_rise{};  ///< of its minibatches, the first since its life began
  std::optional<RunAhead> ran_ahead{};  ///< since its life began
  std::vector<SilentEdge> silent{};     ///< in the last report; ascending by peer
  Payload model;                        ///< x
  Costs costs{};                        ///< since its life began, this evaluation included
  Round staleness = 0;                  ///< since the last report, the greatest
  std::size_t queue = 0;                ///< since the last report, the longest
  std::optional<ExperienceFigures> experience{};  ///< of a memory or an actor
};

/// The place where a peer stands as it completes a round.
struct RoundDone {
  Round rounds = 0;  ///< completed
  Time now{0};
  Spent spent;                        ///< since its life began
  std::uint64_t sent_bytes = 0;       ///< the same
  Round staleness = 0;                ///< of what it took in this round, the greatest
  std::size_t queue = 0;              ///< messages that waited for it in this round, the most
  std::vector<Interval> intervals{};  ///< of this round, if the journal wants them
};

/// The facts that a peer knows of its whole life at its end.
struct LifeDone {
  Time now{0};
  Costs costs;
  std::vector<Waits> waits{};  ///< by neighbour
  std::vector<PeerId> neighbors{};
  /// Counts of messages that were 0, 1, 2, 3-4, 5-8, ... of the sender's rounds behind.
  std::vector<std::uint64_t> staleness{};
};

/// One part of an exchange, applied here: x += weight (theirs - ours), or what the method's traffic
/// makes of these (traffic.h). The other end applies the opposite, with the same weight.
struct Settlement {
  PeerId with = 0;
  ExchangeNumber exchange;
  std::uint32_t part = 0;
  float weight = 0;
  Payload ours, theirs;
  double bound = unbounded;  ///< of the distance that counts whole, the same at both ends
  /// Running traffic: the sum of what we told, or heard, begins again with this exchange.
  bool told_anew = false, heard_anew = false;
};

/// The events of a peer that whoever watches it should know, each with what its line tells.
namespace event {

/// A round's checkpoint is left out: a model that is not finite must not replace one that was.
struct CheckpointLeftOut {
  Round round = 0;
};
/// A peer that has lost its model found no neighbour that has one.
struct NoModelToTake {};
struct TookModel {
  PeerId of = 0;
};
struct PassedOver {
  Round rounds = 0;
  Round to = 0;  ///< the round in which it goes on
};
/// A neighbour that lives was waited for no longer.
struct DeadlinePassed {
  Round round = 0;
  PeerId peer = 0;
  Round of = 0;            ///< the half's
  std::uint32_t part = 0;  ///< that has not come
};
/// The same, where it is not an exchange that goes on without it.
struct GoesOnWithout {
  Round round = 0;
  PeerId peer = 0;
};
/// A collective needs everybody, and one is missing.
struct CollectiveBroken {
  enum class Why : std::uint8_t {
    died,
    left,   ///< it said goodbye, for a reason of its own
    stuck,  ///< it lives, and did not get on within the deadline
  };
  Round round = 0;
  PeerId peer = 0;
  Why why = Why::died;
};
/// All rounds are done, and a neighbour that is away owes half of an exchange.
struct AwaitsHalf {
  PeerId of = 0;
  Time at_most{0};
};
/// All rounds are done, and a neighbour is waited for no longer, with an exchange left open.
struct GaveUp {
  PeerId peer = 0;
  ExchangeNumber exchange{};
};
/// A neighbour sent values that are not finite: they count at neither end.
struct NotFiniteCame {
  Round round = 0;
  PeerId from = 0;
  std::uint32_t strikes = 0;  ///< rounds in which it did, this one included
  std::uint32_t most = 0;     ///< so many, and it is in quarantine; 0: it never is
};
struct Quarantined {
  PeerId peer = 0;
};
/// A neighbour's model was so far away that no honest one is likely to be.
struct FarFlowClipped {
  Round round = 0;
  PeerId from = 0;
  double times = 0;       ///< the bound: so long is the distance
  std::uint64_t far = 0;  ///< exchanges with it in which that was so, this one included
};
/// A neighbour's model does not move while ours does.
struct StandsStill {
  Round round = 0;
  PeerId peer = 0;
  std::uint64_t exchanges = 0;  ///< with it, in which that was so
};
/// A peer's contribution to a sum was so long that it counted in part.
struct ContributionCut {
  Round round = 0;
  PeerId of = 0;
  double times = 0;       ///< as long as the median of what the peers gave; infinite: not finite
  std::uint64_t far = 0;  ///< contributions of it of which that was so, this one included
};
/// The loss of the peer's minibatches rose so much at once that training is not the cause.
struct LossRose {
  LossRise rise{};
};
/// The peer ends its rounds alone faster than it did in company.
struct RanAhead {
  RunAhead ahead{};
};

/// A memory was sent something that no actor and no learner sends.
struct ExperienceRefused {
  Round round = 0;
  PeerId from = 0;
  std::uint32_t strikes = 0;  ///< this one included
  std::uint32_t most = 0;     ///< so many, and nothing is taken of it any more
};
/// No actor of a memory lives, or none says anything.
struct LearnsWithoutActors {
  Round round = 0;
  std::uint64_t transitions = 0;  ///< that are there
};

}  // namespace event

using PeerEvent = std::variant<event::CheckpointLeftOut,
                               event::NoModelToTake,
                               event::TookModel,
                               event::PassedOver,
                               event::DeadlinePassed,
                               event::GoesOnWithout,
                               event::CollectiveBroken,
                               event::AwaitsHalf,
                               event::GaveUp,
                               event::NotFiniteCame,
                               event::Quarantined,
                               event::FarFlowClipped,
                               event::StandsStill,
                               event::ContributionCut,
                               event::LossRose,
                               event::RanAhead,
                               event::ExperienceRefused,
                               event::LearnsWithoutActors>;

/// The event as one line for a log, without its end.
std::string to_text(const PeerEvent& event);

/// Takes what a peer has to report. Nothing in it changes what the peer does, so that every
/// function may be left as it is here, where nobody wants to know.
class Journal {
 public:
  virtual ~Journal() = default;
  // NOLINTNEXTLINE(performance-unnecessary-value-param): an override keeps it
  virtual void publish(Report) {}
  /// Stores what training can go on from after this round. Called off the loop, by a job.
  // NOLINTNEXTLINE(performance-unnecessary-value-param): the same
  virtual void store(Round, std::vector<std::byte>) {}
  /// Serves whoever keeps account of the exchanges.
  virtual void settled(const Settlement&) {}
  virtual void note(const PeerEvent&) {}
  /// Returns whether RoundDone of the round that follows so many is to have its intervals.
  virtual bool wants_intervals(Round) const { return false; }
  /// Told at the peer's first words, after so many rounds of earlier lives.
  virtual void life_begun(Round, Time) {}
  // NOLINTNEXTLINE(performance-unnecessary-value-param): the same
  virtual void round_done(RoundDone) {}
  virtual void life_done(const LifeDone&) {}
};

}  // namespace gv
