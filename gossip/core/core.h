#pragma once

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

}  // namespace gv
