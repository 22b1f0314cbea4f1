#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "gossip/seam/costs.h"
#include "gossip/seam/message.h"
#include "gossip/seam/plan.h"
#include "gossip/seam/traffic.h"
#include "gossip/seam/world.h"
#include "optim/models/objective.h"

namespace gv {

/// Clipping of one peer's contributions at another, in the latter's life (clipping.h, norms.h).
struct ClippedFlows {
  PeerId of = 0;
  std::uint64_t exchanges = 0;  ///< number in which something was clipped
  std::uint64_t far = 0;        ///< those in which it was further away than honest peers are
  std::uint64_t still = 0;      ///< those in which its model stood still while ours moved
  double steps = 0;  ///< distance that all that counted has moved us, in steps of an honest peer
  bool operator==(const ClippedFlows&) const = default;
};

/// Returns whether the n-th event of its kind is worth a line in a log: 1, 10, 100, ...
inline bool is_milestone(std::uint64_t n) {
  while (n >= 10 && n % 10 == 0) n /= 10;
  return n == 1;
}

/// The state in which a peer's exchanges with one neighbour ended. Both ends of an edge must end in
/// the same state; otherwise some flow counts at one end only.
struct EdgeEnd {
  PeerId with = 0;
  ExchangeNumber exchange{};  ///< the one left open, or the next one
  std::uint32_t pieces = 0;   ///< pieces of the open exchange that were applied here
};

/// A sudden rise of the loss that training does not cause (reports.h).
struct LossRise {
  Round round = 0;  ///< the round in which it was found
  double from = 0;  ///< loss before the rise
  double to = 0;    ///< loss after it; not finite if it is lost
  bool operator==(const LossRise&) const = default;
};

/// The rounds that a peer ended alone, sooner than its pace allows (pace_watch.h).
struct RunAhead {
  Round first = 0;   ///< the round in which it was found
  Round rounds = 0;  ///< number of rounds that ended too soon
  Time usual{0};     ///< length of a round with a neighbour
  bool operator==(const RunAhead&) const = default;
};

/// An edge over which nothing has flowed to the end, although its neighbour was there.
struct SilentEdge {
  PeerId with = 0;
  Round since = 0;   ///< the round of the last flow
  Round rounds = 0;  ///< own rounds ended since then while the neighbour was here
  bool operator==(const SilentEdge&) const = default;
};

/// A peer's report at an evaluation, for the observer: its own test figures and its vector.
struct Report {
  PeerId peer = 0;
  Round round = 0;  ///< rounds completed
  /// Periods of the training clock until an evaluation by time; 0: evaluation is by rounds.
  std::uint64_t tick = 0;
  Time due{0};        ///< training clock at that evaluation
  bool last = false;  ///< the peer has stopped; `model` is its final replica
  /// Mean minibatch loss since the last report; unknown_figure() if there was no minibatch.
  double train_loss = 0;
  bool trains = true;     ///< if false, `train_loss` and `evaluation` have no meaning
  Holding holds{};        ///< the part of the fleet's model that `model` is
  Evaluation evaluation;  ///< figures of the local model
  /// The neighbour that died or got stuck, so that a collective could not be completed and the
  /// algorithm ended before its last round.
  std::optional<PeerId> broken_by{};
  /// The neighbour that finished before this peer, so that a collective could not be completed.
  std::optional<PeerId> left_by{};
  std::vector<ClippedFlows>
      clipped{};  ///< ascending by peer; without peers of which nothing was clipped
  /// The ends of edges, in the last report; ascending by peer. Only edges whose two ends are the
  /// processes that the run began with: a successor begins a new conversation.
  std::vector<EdgeEnd> edges{};
  /// First sudden rise of its minibatches' loss since its life began.
  std::optional<LossRise> loss_rise{};
  std::optional<RunAhead> ran_ahead{};  ///< since its life began
  std::vector<SilentEdge> silent{};     ///< in the last report; ascending by peer
  Payload model;                        ///< x
  Costs costs{};                        ///< since its life began, this evaluation included
  Round staleness = 0;                  ///< greatest since the last report
  std::size_t queue = 0;                ///< longest since the last report
  std::optional<ExperienceFigures> experience{};  ///< only from a memory or an actor
};

/// A peer's figures as it completes a round.
struct RoundDone {
  Round rounds = 0;  ///< number of rounds completed
  Time now{0};
  Spent spent;                        ///< since its life began
  std::uint64_t sent_bytes = 0;       ///< bytes since its life began
  Round staleness = 0;                ///< greatest staleness of the messages taken in this round
  std::size_t queue = 0;              ///< greatest number of messages that waited in this round
  std::vector<Interval> intervals{};  ///< intervals of this round, if the journal wants them
};

/// A peer's figures for its whole life, at its end.
struct LifeDone {
  Time now{0};
  Costs costs;
  std::vector<Waits> waits{};  ///< by neighbour
  std::vector<PeerId> neighbors{};
  /// Counts of messages that were 0, 1, 2, 3-4, 5-8, ... of the sender's rounds late.
  std::vector<std::uint64_t> staleness{};
};

/// One part of an exchange, applied here: x += weight (theirs - ours), or the flow that the
/// method's traffic defines (traffic.h). The other end applies the opposite, with the same weight.
struct Settlement {
  PeerId with = 0;
  ExchangeNumber exchange;
  std::uint32_t part = 0;
  float weight = 0;
  Payload ours, theirs;
  double bound = unbounded;  ///< distance that counts whole, the same at both ends
  /// Running traffic: the sum of increments sent, or received, restarts with this exchange.
  bool told_anew = false, heard_anew = false;
};

/// The events of a peer that the watcher of a run should know; a comment gives the text of each.
namespace event {

/// A round's checkpoint is skipped: a model that is not finite must not replace a finite one.
struct CheckpointLeftOut {
  Round round = 0;
};
/// A peer that has lost its model found no neighbour with a model.
struct NoModelToTake {};
struct TookModel {
  PeerId of = 0;
};
struct PassedOver {
  Round rounds = 0;
  Round to = 0;  ///< the round in which it continues
};
/// The peer no longer waits for a neighbour that lives.
struct DeadlinePassed {
  Round round = 0;
  PeerId peer = 0;
  Round of = 0;            ///< round of the missing half
  std::uint32_t part = 0;  ///< the part that has not come
};
/// The peer continues without a neighbour that did not answer in time, outside of exchanges.
struct GoesOnWithout {
  Round round = 0;
  PeerId peer = 0;
};
/// A collective needs all members, and one is missing.
struct CollectiveBroken {
  enum class Why : std::uint8_t {
    died,
    left,   ///< it said goodbye, for a reason of its own
    stuck,  ///< it lives, and made no progress within the deadline
  };
  Round round = 0;
  PeerId peer = 0;
  Why why = Why::died;
};
/// All rounds are done, and an absent neighbour still owes half of an exchange.
struct AwaitsHalf {
  PeerId of = 0;
  Time at_most{0};
};
/// All rounds are done; the peer stops waiting for a neighbour and leaves an exchange open.
struct GaveUp {
  PeerId peer = 0;
  ExchangeNumber exchange{};
};
/// A neighbour sent values that are not finite; they count at neither end.
struct NotFiniteCame {
  Round round = 0;
  PeerId from = 0;
  std::uint32_t strikes = 0;  ///< rounds in which it did, this one included
  std::uint32_t most = 0;     ///< number that puts it in quarantine; 0: never
};
struct Quarantined {
  PeerId peer = 0;
};
/// A neighbour's model was further away than any honest one is likely to be.
struct FarFlowClipped {
  Round round = 0;
  PeerId from = 0;
  double times = 0;       ///< distance in multiples of the bound
  std::uint64_t far = 0;  ///< exchanges with it in which that was so, this one included
};
/// A neighbour's model does not move while ours does.
struct StandsStill {
  Round round = 0;
  PeerId peer = 0;
  std::uint64_t exchanges = 0;  ///< with it, in which that was so
};
/// A peer's contribution to a sum was so long that it counted only in part.
struct ContributionCut {
  Round round = 0;
  PeerId of = 0;
  double times = 0;       ///< multiple of the median of all; infinite: not finite
  std::uint64_t far = 0;  ///< number of its contributions that were cut, this one included
};
/// The loss of the peer's minibatches rose so suddenly that training is not the cause.
struct LossRose {
  LossRise rise{};
};
/// Without neighbours the peer ends its rounds faster than it did with them.
struct RanAhead {
  RunAhead ahead{};
};

/// A memory received a message that no actor and no learner sends.
struct ExperienceRefused {
  Round round = 0;
  PeerId from = 0;
  std::uint32_t strikes = 0;  ///< this one included
  std::uint32_t most = 0;     ///< number after which nothing more is accepted from it
};
/// No actor of a memory lives, or none sends anything.
struct LearnsWithoutActors {
  Round round = 0;
  std::uint64_t transitions = 0;  ///< transitions in the memory
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

/// Returns the event as one line for a log, without a line end.
std::string to_text(const PeerEvent& event);

/// Receives a peer's reports. None changes what the peer does, so each may keep its empty default.
class Journal {
 public:
  virtual ~Journal() = default;
  // NOLINTNEXTLINE(performance-unnecessary-value-param): an override keeps it
  virtual void publish(Report) {}
  /// Stores the state from which training can resume after this round. Called off the loop, by a
  /// job.
  // NOLINTNEXTLINE(performance-unnecessary-value-param): the same
  virtual void store(Round, std::vector<std::byte>) {}
  /// Receives each settled flow, for a ledger of the exchanges.
  virtual void settled(const Settlement&) {}
  virtual void note(const PeerEvent&) {}
  /// Returns whether RoundDone should have its intervals in the round after this number of rounds.
  virtual bool wants_intervals(Round) const { return false; }
  /// Called before the peer's first words, with the number of rounds done by earlier lives.
  virtual void life_begun(Round, Time) {}
  // NOLINTNEXTLINE(performance-unnecessary-value-param): the same
  virtual void round_done(RoundDone) {}
  virtual void life_done(const LifeDone&) {}
};

}  // namespace gv
