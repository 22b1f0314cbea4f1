#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "gossip/core/core.h"
#include "gossip/seam/message.h"
#include "gossip/seam/traffic.h"

namespace gv {

/// The arithmetic of a method's exchanges on the replica: which vectors travel, and what a received
/// half moves. The protocol (exchange.h) decides when, with which peer and how often.
class ExchangeFlows {
 public:
  explicit ExchangeFlows(PeerCore& self);

  bool plain() const { return plain_; }
  /// Returns whether each receiver gets a vector of its own.
  bool for_each() const { return for_each_; }
  std::uint32_t parts() const { return parts_of(self_.plan.traffic, self_.replica.size()); }
  Piece piece(std::uint32_t part) const {
    return part_of(self_.plan.traffic, self_.replica.size(), part);
  }

  /// Returns the payload of a part for all receivers; if for_each(): for neighbour k. `round` is of
  /// the fleet's clock.
  Task<Payload> half(std::uint32_t part, Round round);
  Task<Payload> half_for(std::size_t k, std::uint32_t part, Round round);
  /// The share of a distance that flows.
  struct Share {
    float weight = 0;
    double bound = unbounded;  ///< a longer distance counts as one of this length
    /// Moves the carried vectors and no memory; past flows stop acting.
    bool once = false;
  };
  struct Applied {
    bool finite = true;  ///< true if all their values were finite
    float factor = 1;    ///< factor that clipping applied to the weight
  };
  /// Applies the flow of a part between our half and theirs.
  Task<Applied> apply(std::size_t k, std::uint32_t part, Share share, Payload theirs, Payload ours);
  /// Forgets the memory of neighbour k: it is missing from now on, or one end restarts. Gives back
  /// the past flows over the edge.
  Task<> forget(std::size_t k);
  /// Restarts the sum of our increments to neighbour k, or of its increments to us, from zero. Both
  /// ends do so after a void half of that direction.
  Task<> restart_told(std::size_t k);
  Task<> restart_heard(std::size_t k);
  bool runs() const { return self_.plan.traffic.running; }
  bool remembers(std::size_t k) const { return !plain_ && memories_[k].holds; }
  /// Suspends the past flows over the edge until the next flow, while neighbour k is absent or owes
  /// an answer. Both ends do so: for peers that are together the flows that count sum to zero.
  Task<> suspend(std::size_t k);
  bool suspended(std::size_t k) const {
    return memories_[k].suspended != nullptr && *memories_[k].suspended != 0;
  }
  bool gives_back(std::size_t k) const { return memories_[k].suspended != nullptr; }

 private:
  Task<> resume(std::size_t k);

  struct Moved {
    Vector carries;
    std::vector<Vector> moves;
    std::optional<Vector> returns, sent;
  };
  /// The memory of one edge, by stream.
  struct Memory {
    std::vector<Vector> carried, told, heard, flowed, theirs;
    /// Not 0: past flows do not count at present. Null if this method gives nothing back.
    double* suspended = nullptr;
    bool holds = true;  ///< the vectors above may be nonzero
  };

  Vector vector(std::string_view name);
  void clear(Memory& memory);
  void add_flowed(const Memory& memory, float factor);
  Memory memory_of(const Neighbor& neighbor);
  std::optional<Codec> codec(const Piece& piece, Round round) const;
  void increment(const Memory& memory, const Piece& piece, Buffer& out);
  void encode(const std::optional<Codec>& codec, Vector v, Range r, Buffer& out);
  void unpack(const Memory& memory, const Piece& piece, Buffer& theirs, Buffer& ours);
  Applied move(const Memory& memory,
               const Piece& piece,
               Share share,
               const Buffer& theirs,
               const Buffer& ours);

  PeerCore& self_;
  const bool plain_, for_each_;
  std::vector<Moved> streams_;
  std::vector<Memory> memories_;  ///< by place of the neighbour
  std::optional<Vector> difference_;
};

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
