#pragma once

#include <cstdint>

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

}  // namespace gv
