#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>

#include "gossip/seam/world.h"
#include "optim/rng.h"

namespace gv {

/// The times at which a neighbour is dialled again. The pauses grow by half from `first` to
/// `slowest`, with jitter so that a neighbourhood does not dial in step; a link that breaks before
/// it has carried a message, or has lived for `slowest`, counts as another failure.
/// Invariant: at most one attempt is under way, and between two that fail there is at least half of
/// the present pause.
///
///   resting  --wanted-->  pausing (for nothing, or for a pause when the last link died at once)
///   pausing  --dialled--> dialling
///   dialling --failed-->  pausing
///   any      --linked-->  resting
///   any      --rest-->    resting
class Redial {
 public:
  enum class State : std::uint8_t { resting, pausing, dialling };

  Redial(Time first, Time slowest) : first_(first), slowest_(slowest), pause_(first) {}

  State state() const { return state_; }
  /// Returns when the pause ends; while `pausing`.
  Time due() const { return due_; }

  void wanted(Time now, Rng& jitter);
  void dialled() { state_ = State::dialling; }
  void failed(Time now, Rng& jitter);
  void linked(Time now);
  void useful() { fresh_ = false; }  ///< a message went or came over it
  void rest() { state_ = State::resting; }

 private:
  void pause(Time now, Rng& jitter);

  Time first_, slowest_;
  State state_ = State::resting;
  Time pause_;  ///< before the next attempt, on the average
  Time due_{0};
  Time linked_at_{0};
  bool fresh_ = false;  ///< the last link has not carried a message yet
};

/// Limits how far a peer believes its neighbours' clocks. A clock that is far ahead makes the peer
/// pass over rounds, and one far beyond the run's end would end it: so a single neighbour is not
/// believed if another one could know better. Invariant: a clock more than `slack` rounds ahead of
/// ours, or beyond `rounds`, is believed only as far as a second neighbour has claimed it too; if
/// only one neighbour is left, only as far as the elapsed time allows at twice the fastest pace
/// that was seen here.
class ClockBound {
 public:
  /// `slack`: rounds by which clocks differ in every fleet, so that such a lead has no effect.
  ClockBound(std::size_t neighbors, Round rounds, Round slack)
      : neighbors_(neighbors), rounds_(rounds), slack_(slack) {}

  /// Returns the clock to believe when `from` claims `claim` and our own clock is `own`.
  Round believe(PeerId from, Round claim, Round own, Time now);
  /// The neighbour has died or left: its claims are not needed for belief.
  void leaves(PeerId neighbor) { gone_.insert(neighbor); }
  void returns(PeerId neighbor) { gone_.erase(neighbor); }

 private:
  struct Claim {
    Round clock = 0;
    bool was_level = false;  ///< its clock and ours were once within `slack`
    Round level = 0;         ///< ours then
    Time level_at{0};
  };
  void watch_pace(Round own, Time now);
  Round others_claim(PeerId from) const;
  Round allowed_by_time(const Claim& claim, Time now) const;

  std::size_t neighbors_;
  Round rounds_;
  Round slack_;
  std::map<PeerId, Claim> claims_;
  std::set<PeerId> gone_;
  Time watched_at_{0};
  Round watched_ = 0;
  bool jumped_ = false;  ///< a neighbour far ahead was believed since then
  double fastest_ = 0;   ///< rounds per second
};

}  // namespace gv
