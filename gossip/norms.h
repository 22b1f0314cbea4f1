#pragma once

#include <vector>

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

}  // namespace gv
