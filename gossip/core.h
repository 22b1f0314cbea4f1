#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "gossip/costs.h"
#include "gossip/journal.h"
#include "gossip/plan.h"
#include "gossip/rules.h"
#include "gossip/task.h"
#include "gossip/world.h"
#include "optim/train/replica.h"

namespace gv {

/// A neighbour, as the plan has it.
struct Neighbor {
  PeerId peer = 0;
  float weight = 0;       ///< W_ij; 0 where it does not send to us
  bool sends = false;     ///< to us
  bool receives = false;  ///< from us
  bool linked = false;    ///< takes part in collective operations, both ways
  bool chained = false;   ///< the stage before or behind ours, both ways (chain.h)
  /// Its exchanges have numbers, are settled late, and lose nothing: both ends send, in the rounds
  /// that both look up.
  bool two_way = false;
};

/// The base that the parts of a peer share: what it was told, what it stands on, which round it is
/// in, and arithmetic. Neighbours are named by their place in `neighbors`, in every part.
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
  /// The round after which it ends: the plan's, or one that its fleet agreed on (Peer::end_after).
  Round last_round = plan.rounds;
  Timesheet timesheet;
  /// The clipped part of each one's contributions to the sums that the peer is in (norms.h).
  std::map<PeerId, ClippedFlows> cut;

  std::optional<std::size_t> find(PeerId peer) const;

  std::uint32_t pieces() const;
  Range piece(std::uint32_t part) const;
  BufferPool& pool() { return pool_; }

  /// Any arithmetic on the replica, off the loop; what it is for counts in the timesheet.
  Task<> compute(double flops, Job job, Activity activity = Activity::mix, Lane lane = Lane::home);
  /// The fleet's, of what travels; none: floats.
  std::optional<Codec> codec() const { return plan.setup ? plan.setup->codec : std::nullopt; }
  /// Frozen copy of v[r]; the only host copy a vector makes on its way out.
  Task<Payload> snapshot(Vector v, Range r);
  /// Does the same for the copy as it travels: in a codec, or as floats.
  Task<Payload> encode(Vector v, Range r, std::optional<Codec> codec);
  /// The floats of what travelled so, `count` of them; null: it is no encoding of so many.
  Task<Payload> decode(Payload in, std::size_t count, std::optional<Codec> codec);
  /// Returns what stands beside a vector in a message of its own, as a float.
  Payload one_number(double value);

 private:
  BufferPool pool_;
};

}  // namespace gv
