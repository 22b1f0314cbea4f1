#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "gossip/seam/message.h"

namespace gv {

/// One end of an edge as a merge-join of two increasing sequences of round numbers: the rounds in
/// which this peer sent a half, and those in which the neighbour did. A number in both sequences is
/// a flow, at both ends. A number that the other sequence has passed is void, at both ends.
///
///     our unmatched half o, theirs q
///     o = q   the flow of that round counts
///     o < q   o is void: the neighbour has passed it
///     o > q   q is void: this peer has passed it
///
/// Both ends see the same two sequences, because a session delivers each message once and in order
/// while both processes live. So neither end needs to agree with the other on what counts, and
/// neither may void a half for any other reason.
///
/// Invariant: each end has at most one unmatched half.
class MergeJoin {
 public:
  /// Returns whether this peer may send a half: none of its own is unmatched or still flows.
  bool free() const { return !ours_; }
  /// Returns the number of our half that is unmatched, or whose flow is not complete.
  std::optional<Round> ours() const { return ours_; }
  /// Returns the number of the neighbour's unmatched half.
  std::optional<Round> theirs() const { return theirs_; }
  /// Returns whether the neighbour has sent a half of the same number as ours.
  bool flows() const { return flows_; }
  /// Returns whether the neighbour has sent a half that is unmatched or flows, of this number.
  bool takes(Round number) const { return theirs_ == number || (flows_ && ours_ == number); }
  /// Returns the number of the neighbour's newest half, void or not.
  std::optional<Round> heard() const { return heard_; }
  /// Returns the lowest number that can still flow: neither end has passed it.
  Round next() const { return std::max(next_, theirs_.value_or(theirs_next_)); }
  /// Returns the number after that of our newest half.
  Round after_sent() const { return after_sent_; }

  /// Sends the half of a round. Requires free() and a number that this peer has not passed.
  void send(Round number) {
    ours_ = number;
    next_ = after_sent_ = number + 1;
    join();
  }
  /// The neighbour sends the half of a round. Returns false if it has passed that number, or if a
  /// half of the neighbour's is unmatched already.
  bool hear(Round number) {
    if (theirs_ || number < theirs_next_) return false;
    heard_ = theirs_ = number;
    theirs_next_ = number + 1;
    join();
    return true;
  }
  /// The neighbour will send no half below `number`.
  void hear_beyond(Round number) {
    theirs_next_ = std::max(theirs_next_, number);
    if (ours_ && !flows_ && *ours_ < number) ours_.reset();
  }
  /// Voids the neighbour's unmatched half; this peer will send no half below `beyond`.
  void pass(Round beyond) {
    theirs_.reset();
    next_ = std::max(next_, beyond);
  }
  /// The flow is complete, or the neighbour has left before it was.
  void end() {
    ours_.reset();
    flows_ = false;
  }

 private:
  friend struct Inspect;  // tests/explore
  void join() {
    if (!ours_ || !theirs_ || flows_) return;
    flows_ = *ours_ == *theirs_;
    const bool passed = *ours_ < *theirs_;
    if (passed) ours_.reset();
    if (!passed) theirs_.reset();
  }

  std::optional<Round> ours_, theirs_, heard_;
  bool flows_ = false;
  Round next_ = 0;  ///< the lowest that this peer may send
  Round after_sent_ = 0;
  Round theirs_next_ = 0;  ///< the lowest that the neighbour may send
};

}  // namespace gv
