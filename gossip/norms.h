#pragma once

#include <cstdint>
#include <vector>

#include "gossip/collectives.h"
#include "gossip/peer.h"

namespace gv {

/// The record of how long the contributions to a sum of vectors are, against peers that lie or are
/// broken: each counts for no more than twice the median of how long those of the peers usually
/// are, so that no minority moves the bound. Usually is the root mean square of a peer's last 20 or
/// so, since the gradients of a model that fits are short but for a few. The median of norms:
/// Ghosh, Maity, Kadhe, Mazumdar & Ramchandran, "Communication-efficient and Byzantine-robust
/// distributed learning with error feedback", 2021, arXiv:1911.09721, which leaves the longest out.
///
/// What is a thousandfold of the median counts nothing: no honest gradient is that.
/// Who gives three times as much as the median in more than half of its last 20 contributions or so
/// is held for a liar and counts by a tenth, until that is over. All of it is kept as scalars of
/// the replica, so that checkpoints hold it.
class Norms {
 public:
  explicit Norms(Peer& me) : me_(me) {}

  /// A contribution of this peer; what is not finite is not learnt.
  void learn(PeerId of, double norm);
  /// Returns the norm that counts whole; 0: nobody's is known.
  double bound() const;
  /// Returns how much of a contribution counts, once it has learnt those of the whole round, or one
  /// that came alone. 0: it is not finite or far too long, or too few are known.
  float part(PeerId of, double norm);
  /// Forgets all that it has learnt: what comes from here on is of another kind.
  void forget();
  /// Counts what part() gave among what was cut, and says it where it is far too long.
  void tell(PeerId of, double norm, float part);

 private:
  double& kept(const char* name, PeerId of) const { return me_.replica.scalar(name, of); }
  bool suspects(PeerId of) const;

  Peer& me_;
};

/// ||v||, off the loop.
Task<double> norm_of(Peer& me, Vector v);
/// Shortens v, what this peer gives to a sum of everyone, knowing how long those of all are, by
/// peer: all shorten theirs alike. Of each peer the next one tells what was cut. The bound that no
/// contribution exceeds then.
Task<double> shorten(Peer& me, Vector v, std::vector<float> norms);

// The same of what has come, on the CPU, where servers are. `from`: what it is the distance from;
// null: from zero.

/// Returns of what came alone as much as counts; null: nothing.
Task<Payload> shortened(Peer& me, PeerId of, Payload came, Payload from = nullptr);
/// Shortens what came in one round, by peer; null: nothing that counts.
Task<> shorten(Peer& me, std::map<PeerId, Payload>& came, Payload from = nullptr);

/// Returns whether sums are to be clipped in this fleet.
inline bool clips_sums(const Peer& me) {
  return me.plan.setup && me.plan.setup->clip.has_value();
}

// One number of each member of a group, told to all of them along the connections that the sum
// takes. Each gives them in the order of the group; nothing: one has gone for good. n members,
// latency alpha.

using Numbers = std::optional<std::vector<float>>;

Task<Numbers> tell_all(Peer& me, Group group, Way way, float own);  ///< ring n, others as the sum
/// Among the first peers of each machine along a ring; the others tell and hear theirs.
Task<Numbers> tell_hosts(Peer& me, float own);

/// Returns whether the n-th event of its kind is worth a line in a log: 1, 10, 100, ...
inline bool is_milestone(std::uint64_t n) {
  while (n >= 10 && n % 10 == 0) n /= 10;
  return n == 1;
}

}  // namespace gv
