#pragma once

#include <optional>
#include <vector>

#include "gossip/peer.h"

namespace gv {

/// The members of a collective operation, ascending; every member computes the same. All members
/// call it, and calls of the same members come in the same order everywhere. The operation waits
/// for members that are away. It returns false if one has gone for good: then no member can
/// complete it, and v is neither old nor new. With a codec, the sender of a part of v replaces that
/// part by the values that the others decode.
using Group = std::vector<PeerId>;

/// Algorithm of a sum. M bytes of v, n members, one-way latency alpha, B bytes per second; Thakur,
/// Rabenseifner & Gropp, "Optimization of collective communication operations in MPICH", IJHPCA
/// 19(1), 2005.
enum class Way : std::uint8_t {
  /// n - 1 hops of reduce-scatter, n - 1 of all-gather: 2 (n - 1) (alpha + M / (n B)). Patarasuk &
  /// Yuan, "Bandwidth optimal all-reduce algorithms for clusters of workstations", JPDC 2009.
  ring,
  /// The first member sums, ascending, and gives the sum back, piece by piece: about 2 alpha +
  /// (n - 1) M / B through its card.
  driver,
  /// log2 n hops, each with the member whose rank differs in one bit: log2 n (alpha + M / B). n is
  /// a power of two.
  doubling
};

/// The form in which a sum travels, and the length that it may have.
struct Sum {
  std::optional<Codec> codec{};
  double bound = unbounded;  ///< maximum length of a contribution; a longer message is shortened to
                             ///< what it can be
  std::optional<Range> part{};  ///< range of v to sum, along a ring; none: all of v

  /// Returns the maximum length of a sum of this number of contributions.
  double most(std::size_t contributions) const {
    return bound * static_cast<double>(contributions);
  }
};

/// v <- the sum of the members' v; the same bits at each.
Task<bool> all_reduce(Peer& me, Group group, Vector v, Way way, Sum sum = {});
/// v <- the mean of the members' v: all_reduce, then the product with 1 / n. The group is everyone:
/// in a fleet that clips, contributions that are too long are shortened first (norms.h), for which
/// a ring needs n - 1 hops of one number more.
Task<bool> all_average(
    Peer& me, Group group, Vector v, Way way, std::optional<Codec> codec = std::nullopt);
/// x <- the mean of everyone's x. In a fleet that clips, the bound applies to each one's move since
/// they last agreed; before that, to x itself. Memory of a peer there: 1 vector.
Task<bool> average_models(Peer& me, Group group, Way way);
/// Makes at the first member v <- the sum, its own first, then ascending; elsewhere v stays.
Task<bool> reduce(Peer& me, Group group, Vector v, Sum sum = {});
/// v <- the first member's v.
Task<bool> broadcast(Peer& me, Group group, Vector v, Sum sum = {});

/// of[j] <- the v of member j, at all members. Before, of[r] at the member with rank r holds its v.
/// Along a ring, n - 1 hops: (n - 1) (alpha + M / B).
Task<bool> all_gather(Peer& me, Group group, std::vector<Vector> of);
/// Waits until all members are here: a word goes twice along a ring, 2 n alpha.
Task<bool> barrier(Peer& me, Group group);

/// All peers; in a fleet of chains those that have the same part of a model.
Group everyone(const Peer& me);

/// x <- the finite elements of `mean`, and `own` elsewhere. `mean` has the same bits at all
/// members; if an element is not finite at one member, it is not finite in `mean`, and all members
/// keep their own.
Task<> take_finite_elements(Peer& me, Payload mean, Payload own);

}  // namespace gv
