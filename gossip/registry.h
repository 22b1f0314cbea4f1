#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "gossip/peer.h"

namespace gv {

/// An algorithm is a straight-line function of one peer.
using Algorithm = Task<> (*)(Peer&);

/// Whom the peers of an algorithm talk to.
enum class Links {
  topology,  ///< the neighbours that the mixing matrix gives
  ring,      ///< the next and the previous id, whatever the topology
  none,
};

struct AlgorithmRow {
  std::string_view kind;   ///< "d-psgd"
  std::string_view order;  ///< "lian", or "" where there is only one
  Algorithm run;
  Links links;
  std::string_view summary;  ///< one line, with the source
  /// What its messages may be, in a fleet of n peers and models of d floats; null: none of its own.
  std::vector<Channel> (*channels)(PeerId n, std::size_t d) = nullptr;
};

const std::vector<AlgorithmRow>& algorithms();
/// Null when there is none. An empty order takes the first row of that kind.
const AlgorithmRow* find_algorithm(std::string_view kind, std::string_view order);

/// A peer's whole life: the algorithm, then its last words.
Task<> live(Peer& me, Algorithm run);

Task<> d_psgd_lian(Peer& me);
Task<> d_psgd_atc(Peer& me);
Task<> d_psgd_cta(Peer& me);
Task<> ring_all_reduce(Peer& me);
Task<> isolated(Peer& me);

/// The row of W that a peer of this algorithm uses: row i of `w`, or the algorithm's own links.
Neighborhood neighborhood_of(const AlgorithmRow& algorithm, const MixingMatrix& w, PeerId i);
/// With a W for every round: its links, or the algorithm's own.
Neighborhood neighborhood_of(const AlgorithmRow& algorithm, const MixingSchedule& w, PeerId i);

}  // namespace gv
