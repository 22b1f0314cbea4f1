#pragma once

#include <cstdint>
#include <vector>

#include "gossip/peer.h"
#include "gossip/sums/collectives.h"

namespace gv {

/// The record of the lengths of contributions to a sum of vectors, against peers that lie or are
/// broken. Each contribution counts for no more than twice the median of the peers' usual lengths,
/// so no minority moves the bound. A peer's usual length is the root mean square of about its last
/// 20 contributions, since all but a few gradients of a model that fits are short. The median of
/// norms: Ghosh, Maity, Kadhe, Mazumdar & Ramchandran, "Communication-efficient and
/// Byzantine-robust distributed learning with error feedback", 2021, arXiv:1911.09721, which leaves
/// the longest out.
///
/// A contribution of a thousand times the median counts nothing, because no honest gradient is that
/// long. A peer that gives three times the median in more than half of about its last 20
/// contributions counts as a liar and by a tenth, until that is over. The record is kept as
/// scalars of the replica, so that checkpoints hold it.
class Norms {
 public:
  explicit Norms(Peer& me) : me_(me) {}

  /// Learns from a contribution of this peer; ignores it if it is not finite.
  void learn(PeerId of, double norm);
  /// Returns the norm that counts whole; 0 if no peer's is known.
  double bound() const;
  /// Returns the fraction of a contribution that counts, once all contributions of the round, or a
  /// single one, were learnt. 0 if it is not finite or far too long, or if too few norms are known.
  float part(PeerId of, double norm);
  /// Forgets the record: contributions from here on are of another kind.
  void forget();
  /// Counts what part() cut off; reports a contribution that is far too long.
  void tell(PeerId of, double norm, float part);

 private:
  double& kept(const char* name, PeerId of) const { return me_.replica.scalar(name, of); }
  bool suspects(PeerId of) const;

  Peer& me_;
};

/// ||v||, off the loop.
Task<double> norm_of(Peer& me, Vector v);
/// Shortens v, this peer's contribution to a sum of everyone, given the norms of all, by peer: all
/// peers shorten theirs alike. The peer next to each one reports what was cut from it. Returns the
/// bound that no contribution exceeds then.
Task<double> shorten(Peer& me, Vector v, std::vector<float> norms);

// The functions below clip received contributions, on the CPU, where servers run. Lengths are
// measured from the vector `from`; null means zero.

/// Returns the part of a single contribution that counts; null if none does.
Task<Payload> shortened(Peer& me, PeerId of, Payload came, Payload from = nullptr);
/// Shortens the contributions of one round, by peer; null for one that counts nothing.
Task<> shorten(Peer& me, std::map<PeerId, Payload>& came, Payload from = nullptr);

/// Returns whether sums are to be clipped in this fleet.
inline bool clips_sums(const Peer& me) {
  return me.plan.setup && me.plan.setup->clip.has_value();
}

// Each member of a group sends one number to all members, along the connections that the sum takes.
// The result is in the group's order; none if a member has gone for good. n members, latency alpha.

using Numbers = std::optional<std::vector<float>>;

Task<Numbers> tell_all(Peer& me, Group group, Way way, float own);  ///< ring n, others as the sum
/// Along a ring of the first peers of each machine; they collect and spread the others' numbers.
Task<Numbers> tell_hosts(Peer& me, float own);

}  // namespace gv
