#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "gossip/core/core.h"
#include "gossip/core/pace.h"
#include "gossip/exchange/clipping.h"
#include "gossip/mail/post.h"
#include "gossip/seam/message.h"
#include "gossip/seam/traffic.h"

namespace gv {

/// The arithmetic of a method's exchanges on the replica: which vectors travel, and what a received
/// half moves. The protocol (Exchange) decides when, with which peer and how often.
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

/// Averaging with the neighbours, written as flows, x_i += w (x_j - x_i): the mean of the fleet is
/// kept when both ends of an edge apply opposite flows exactly once. The optimistic protocol: both
/// ends send at once, and each applies its half as soon as the other's contribution to the same
/// exchange is there, against the contribution that it sent itself.
///
/// Halves carry the clock of the round that they belong to, and an edge is the merge-join of the
/// two ends' numbers (MergeJoin): an exchange whose number both ends have sent is applied at
/// both ends, any other is void at both. A neighbour that is away or late leaves our half
/// unmatched; its own half is applied when it comes, and no other exchange with that neighbour
/// begins before. So memory is bounded.
///
/// A round waits for the halves of all neighbours that can be reached: those of this round, and
/// older ones that are still unmatched. Each such wait ends without any progress of a peer that
/// waits for us, because a neighbour that will not send the number answers at once: its half has a
/// greater number, or it sends `beyond`. So the waiting peer with the lowest clock always
/// continues.
///
/// A neighbour that has died takes its half with it. Applied pieces of the open exchange stay, the
/// rest no longer counts: the survivors' mean changes only by the dead one's part, which no
/// protocol can give back. Its successor begins a new conversation with exchange 0. So a checkpoint
/// needs to hold no exchange.
class Exchange {
 public:
  Exchange(PeerCore& self, Roster& roster, Pace& pace, Post& post);

  // The verbs: see Peer.
  Task<> share();
  /// The two steps of share(): choosing the edges that take part, and sending to them.
  Task<> begin_round();
  Task<> share_begun();
  /// Returns whether x travels as it is, so that a device that computes only copies it.
  bool copies() const;
  Task<> mix();
  Task<> average();
  Task<> average(std::size_t stream);
  Task<> mix_and_step();

  /// Takes a contribution of neighbour k. Returns false if it cannot be expected (wrong size, too
  /// far ahead, a duplicate).
  bool take(std::size_t k, Message message);
  /// Applies the received pieces of an exchange left open; `wait`: waits for all, with patience.
  Task<> settle_late(std::size_t k, bool wait);
  /// Voids the open exchange at this end, so that the next one may begin.
  void abandon(std::size_t k);
  /// Another process has taken the place of k: see Peer::replaced.
  void replaced(std::size_t k);

  /// Neighbour k will send no half below this number. Returns false if it sends none at all.
  bool hear_beyond(std::size_t k, Round number);
  /// Neighbour k's clock has advanced: a neighbour that sends in each of its rounds without waiting
  /// for us sends nothing more for earlier rounds.
  void hear_clock(std::size_t k);
  /// Returns whether a neighbour's half waits for our next round.
  bool company_waits() const;
  /// A round has ended: sends `beyond` to neighbours whose unmatched halves belong to past rounds.
  void end_round();

  bool open(std::size_t k) const;
  ExchangeNumber number(std::size_t k) const { return edges_[k].number; }
  /// Returns the ends of edges to neighbours that are in their first life.
  std::vector<EdgeEnd> ends() const;
  /// Returns the number for a goodbye: of an open exchange this peer is still a part.
  std::uint64_t first_without_us(std::size_t k) const;
  /// Returns whether no exchange with k will begin: it has left, or is in quarantine.
  bool gone(std::size_t k) const;
  /// Returns what was clipped, in a fleet that does: see Clipping.
  std::vector<ClippedFlows> clipped() const { return clipping_.counts(); }
  /// x has been taken from a neighbour.
  void took_model() { clipping_.forget(); }
  /// Returns whether the round that has just ended was to bring a flow, so that it was one alone if
  /// no message came. Call once in each round.
  bool expected_company() { return std::exchange(expected_company_, false); }

 private:
  friend struct Inspect;  // tests/explore
  /// The state of an edge in the present round.
  enum class Turn : std::uint8_t {
    idle,     ///< takes no part, and nothing is open
    open,     ///< takes part: waits for the rest of the other half
    settled,  ///< took part, and everything is applied
    late,     ///< no longer takes part, and the rest of the other half is still missing
  };
  struct Edge {
    Turn turn = Turn::idle;
    bool hears = false;        ///< the neighbour sends to us in this round
    bool tells = false;        ///< we send to it in this round
    bool anew = false;         ///< one end has a successor: see ExchangeFlows::forget
    bool sharing = false;      ///< our contribution of this round is not all sent
    bool overdue = false;      ///< its half of the open exchange has missed the deadline
    MergeJoin join{};          ///< only for two-way neighbours
    ExchangeNumber number;     ///< the open exchange, or the next one
    float weight = 0;          ///< W_ij; with a schedule: in the open exchange's round
    std::uint32_t degree = 0;  ///< ours, sent with the open exchange
    /// Traffic::running only. A half of ours was void, so the sum of our increments restarts with
    /// the next half. `heard_void`: rounds of the neighbour's void halves, before and after the
    /// present flow; each restarts the sum of the neighbour's increments.
    bool told_void = false;
    std::vector<Round> heard_void{};
    bool told_anew = false;       ///< the open exchange is the first after the sum restarted
    bool heard_anew = false;      ///< as told_anew, for the neighbour's sum
    std::optional<Round> last{};  ///< round of the newest exchange of which a piece is applied
    bool late = false;            ///< the open exchange does not follow the last one: see late()
    std::uint32_t came = 0;       ///< pieces of the neighbour's newest half that have come
    std::uint32_t settled = 0;    ///< pieces of the open exchange applied
    std::vector<Payload> sent{};  ///< ours of the open exchange; null once settled
    std::vector<float> bounds{};  ///< ours, sent with it; none if this fleet does not clip
    bool takes_part() const { return turn == Turn::open || turn == Turn::settled; }
  };
  /// The neighbours' halves of the piece that is mixed, and their senders.
  struct Collected {
    /// Our own half for the vector of the same index, and its clipping.
    struct Clip {
      Payload ours;
      Clipping::Counted counted;
    };
    Flows flows;
    std::vector<std::size_t> from;
    std::vector<Clip> clips;  ///< none if this fleet does not clip

    void clear() {
      flows.vectors.clear();
      flows.weights.clear();
      flows.ours.clear();
      from.clear();
      clips.clear();
    }
  };

  // exchange.cpp
  Mailbox::Key key(std::size_t k, std::uint32_t part) const;
  float weight(std::size_t k, const Message& theirs) const;
  double bound(std::size_t k, const Message& theirs) const;
  void settle(std::size_t k, const Message& theirs, float w);
  bool late(std::size_t k, Round now) const;
  void drop(std::size_t k);
  void drop_void(std::size_t k);
  Task<> average_parts(std::uint32_t first, std::uint32_t end);
  Task<> share_piece(std::uint32_t part);
  Task<> send_piece(std::uint32_t part);
  void stage(const Payload& theirs);
  Task<> collect(std::uint32_t part);
  Task<std::optional<Message>> receive_half(std::size_t k, std::uint32_t part);
  Task<> settle_older();
  void clip(std::uint32_t part);
  std::size_t passes(std::size_t more) const;
  void end_piece(const NotFinite& bad);
  Task<> mix_piece(std::uint32_t part);
  Task<> flow_piece(std::uint32_t part);
  Task<> apply(std::size_t k, const Message& theirs);
  bool out_of_reach(std::size_t k, std::uint64_t number) const;
  bool fits(std::size_t k, const Message& message) const;
  bool keep(std::size_t k, Message message);

  // exchange_round.cpp
  Task<> forget();
  Task<> follow_presence();
  void look_up_row();
  void choose_edges();
  void open_edges(std::uint32_t degree);
  void quarantine(std::size_t k);
  bool reachable(std::size_t k) const;
  Round first_round_with(std::size_t k) const;
  bool takes_number(std::size_t k) const;
  void pass(std::size_t k);
  void answer(std::size_t k);
  void end_wait(std::size_t k, Round round);
  bool has_passed_us(std::size_t k) const;
  void void_half_of(std::size_t k, Round round);
  Task<> restart_sums(std::size_t k);

  PeerCore& self_;
  Roster& roster_;
  Pace& pace_;
  Post& post_;
  ExchangeFlows flows_;
  Clipping clipping_;
  std::vector<Edge> edges_;
  bool expected_company_ = false;
  Collected collected_;  ///< a member so that its memory is reused
};

/// The usual duration of something: the second longest of the last eight durations, so that neither
/// one long accident nor short durations in between hide the usual one.
class UsualTime {
 public:
  void add(Time took) { last_[count_++ % last_.size()] = took; }
  /// Returns 0 if nothing is known.
  Time get() const {
    std::array<Time, 8> longest = last_;
    std::ranges::sort(longest, std::greater{});
    return count_ == 1 ? longest[0] : longest[1];
  }

 private:
  std::array<Time, 8> last_{};
  std::size_t count_ = 0;
};

}  // namespace gv
