#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace gv {

using PeerId = std::uint32_t;
using Edge = std::pair<PeerId, PeerId>;
/// The edge as an undirected graph lists it, the smaller end first.
inline Edge undirected_edge(PeerId u, PeerId v) {
  return {std::min(u, v), std::max(u, v)};
}

/// The communication graph. neighbors[i] lists the peers whose vectors i averages in, ascending,
/// without i itself. Undirected: j is in neighbors[i] exactly if i is in neighbors[j]. Directed:
/// neighbors[i] are the in-neighbours, and i sends to every j that lists it.
struct Topology {
  std::string name;  ///< as the user wrote it, e.g. "torus:4x4"
  bool directed = false;
  std::vector<std::vector<PeerId>> neighbors;
  std::vector<double>
      edge_weights;  ///< third column of an edge list, in `edges()` order; otherwise empty

  PeerId size() const { return static_cast<PeerId>(neighbors.size()); }
  std::vector<Edge> edges() const;  ///< (u, v): u < v when undirected, else u -> v; sorted
};

/// Returns the undirected topology of the edges, without duplicates and self-loops. Throws
/// std::invalid_argument if an end is no peer.
Topology make_topology(std::string name, PeerId n, const std::vector<Edge>& edges);

bool is_connected(const Topology& t);  ///< strongly, when directed
/// Returns the parts that are connected when links are taken both ways. Each lists its peers in
/// ascending order, and the largest part comes first.
std::vector<std::vector<PeerId>> components(const Topology& t);
/// Returns a sentence on why t is not connected, with its components; empty if t is connected.
std::string disconnection(const Topology& t);
/// Throws std::invalid_argument with that sentence and the remedy unless t is connected.
void require_connected(const Topology& t);
/// Returns the number of hops between the two peers farthest apart; -1 if t is not connected. Takes
/// O(n m) steps for n peers and m edges.
std::int64_t diameter(const Topology& t);

/// Maps peers to the stages of chains. The ids of a chain follow each other: the peers of its first
/// stage, then those of its second one; then the next chain's. So stage s of chain c, with p
/// stages of one peer each, is peer c p + s. Nothing else computes these numbers.
class ChainMap {
 public:
  /// Chains of `stages` stages, each with one peer.
  explicit ChainMap(PeerId stages = 1) : stages_(stages) {}
  /// Each number is the number of peers of a stage, at least one.
  explicit ChainMap(std::span<const PeerId> peers_of_stages);

  PeerId stages() const { return stages_; }
  PeerId peers() const { return ends_.empty() ? stages_ : ends_.back(); }  ///< in a chain
  PeerId peers_of(PeerId stage) const { return ends_.empty() ? 1 : ends_[stage] - begin(stage); }

  PeerId chain(PeerId i) const { return i / peers(); }
  PeerId stage(PeerId i) const;
  PeerId copy(PeerId i) const { return i % peers() - begin(stage(i)); }  ///< in its stage

  /// The first peer of the chain that peer i is in.
  PeerId first(PeerId i) const { return i - i % peers(); }
  /// Returns the peer of this chain that corresponds to peer i of its own chain.
  PeerId counterpart(PeerId i, PeerId chain) const { return chain * peers() + i % peers(); }
  /// The peers of a stage of the chain that peer i is in; ascending.
  std::vector<PeerId> stage_peers(PeerId i, PeerId stage) const;

 private:
  /// Returns the index in the chain of the stage's first peer.
  PeerId begin(PeerId stage) const {
    if (ends_.empty()) return stage;
    return stage == 0 ? 0 : ends_[stage - 1];
  }

  PeerId stages_;
  /// Index after each stage's peers in a chain; empty if each stage has one peer.
  std::vector<PeerId> ends_{};
};

}  // namespace gv
