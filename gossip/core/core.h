#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "gossip/core/rules.h"
#include "gossip/seam/costs.h"
#include "gossip/seam/journal.h"
#include "gossip/seam/plan.h"
#include "gossip/seam/task.h"
#include "gossip/seam/world.h"
#include "optim/train/replica.h"

namespace gv {

/// A neighbour in the plan.
struct Neighbor {
  PeerId peer = 0;
  float weight = 0;       ///< W_ij; 0 if it does not send to us
  bool sends = false;     ///< to us
  bool receives = false;  ///< from us
  bool linked = false;    ///< takes part in collective operations, both ways
  bool chained = false;   ///< the previous or next stage, both ways (chain.h)
  /// Its exchanges have numbers, may settle late, and lose nothing: both ends send, in the same
  /// rounds of a schedule.
  bool two_way = false;
};

/// The base that the parts of a peer share: plan, world, journal, replica, the present round, and
/// arithmetic. In every part a neighbour is identified by its index in `neighbors`.
class PeerCore {
 public:
  PeerCore(Plan plan, World& world, Journal& journal, Replica& replica, const Rules& rules);

  const Plan plan;
  Replica& replica;
  World& world;
  Journal& journal;
  const Rules& rules;
  const std::vector<Neighbor> neighbors;  ///< ascending
  Round round = 0;                        ///< rounds completed
  /// The last round: the plan's, or the one that the fleet agreed on (Peer::end_after).
  Round last_round = plan.rounds;
  Timesheet timesheet;
  /// Clipped part of each peer's contributions to the sums that this peer is in (norms.h).
  std::map<PeerId, ClippedFlows> cut;

  std::optional<std::size_t> find(PeerId peer) const;

  std::uint32_t pieces() const;
  Range piece(std::uint32_t part) const;
  BufferPool& pool() { return pool_; }

  /// Any arithmetic on the replica, off the loop; the timesheet counts it as `activity`.
  Task<> compute(double flops, Job job, Activity activity = Activity::mix, Lane lane = Lane::home);
  /// Returns the fleet's codec of models; none: floats.
  std::optional<Codec> codec() const { return plan.setup ? plan.setup->codec : std::nullopt; }
  /// Returns a frozen copy of v[r]; the only host copy a vector makes on its way out.
  Task<Payload> snapshot(Vector v, Range r);
  /// Returns a frozen copy of v[r] in its encoding: in a codec, or as floats.
  Task<Payload> encode(Vector v, Range r, std::optional<Codec> codec);
  /// Returns the `count` floats of an encoding; null if it is not the encoding of that number.
  Task<Payload> decode(Payload in, std::size_t count, std::optional<Codec> codec);
  /// Returns a payload of one number, as a float, for a message besides a vector's.
  Payload one_number(double value);

 private:
  BufferPool pool_;
};

/// The presence of a neighbour's process, as far as the world knows.
enum class Presence : std::uint8_t {
  here,
  away,  ///< silent; it may come back
  dead,  ///< its process has ended; a successor may come
};

/// Trust in a neighbour's values.
enum class Standing : std::uint8_t {
  good,
  suspected,    ///< has struck too often; in quarantine once nothing is open with it
  quarantined,  ///< no exchange with it any more
};

/// Keeps which neighbours are there, and whose values count. Invariant: a neighbour changes its
/// life only by replaced(), and nothing begun with an earlier life belongs to the present one.
class Roster {
 public:
  explicit Roster(PeerCore& self) : self_(self), entries_(self.neighbors.size()) {}

  bool here(std::size_t k) const { return entries_[k].presence == Presence::here; }
  bool dead(std::size_t k) const { return entries_[k].presence == Presence::dead; }
  /// Returns the number of times that it has gone away or been replaced.
  std::uint64_t outages(std::size_t k) const { return entries_[k].outages; }
  /// Returns the number of its successors that we met.
  std::uint64_t life(std::size_t k) const { return entries_[k].life; }

  void away(std::size_t k);
  void died(std::size_t k) { entries_[k].presence = Presence::dead; }
  void back(std::size_t k) { entries_[k].presence = Presence::here; }
  /// Another process has taken its place; it knows nothing, and nothing is held against it.
  void replaced(std::size_t k);

  Standing standing(std::size_t k) const;
  bool quarantined(std::size_t k) const { return entries_[k].quarantined; }
  /// Counts that it sent values that are not finite, once for each round.
  void blame(std::size_t k);
  void quarantine(std::size_t k);

  /// Records that it has said goodbye before its last round.
  void leave_early(std::size_t k) { entries_[k].left_early = true; }
  bool left_early(std::size_t k) const { return entries_[k].left_early; }
  /// Records that it has said goodbye after its last round.
  void end(std::size_t k) { entries_[k].ended = true; }
  bool ended(std::size_t k) const { return entries_[k].ended; }
  /// Returns whether its part is missing: it is dead, left early, or is in quarantine.
  bool missing(std::size_t k) const;

  /// Stops waiting for it at the end of our rounds, because it has been away for too long.
  void give_up(std::size_t k) { entries_[k].given_up = true; }
  bool given_up(std::size_t k) const { return entries_[k].given_up; }

 private:
  friend struct Inspect;  // tests/explore
  struct Entry {
    Presence presence = Presence::here;
    bool quarantined = false;
    bool given_up = false;
    bool left_early = false;
    bool ended = false;
    std::uint64_t outages = 0;
    std::uint64_t life = 0;
    std::uint32_t strikes = 0;      ///< rounds in which it sent values that are not finite
    std::optional<Round> struck{};  ///< the last such round
  };

  PeerCore& self_;
  std::vector<Entry> entries_;
};

}  // namespace gv
