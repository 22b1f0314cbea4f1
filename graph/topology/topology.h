#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace gv {

using PeerId = std::uint32_t;
using Edge = std::pair<PeerId, PeerId>;

/// Who talks to whom. neighbors[i] lists the peers whose vectors i averages in, ascending, without
/// i itself. Undirected: j is in neighbors[i] exactly when i is in neighbors[j]. Directed:
/// neighbors[i] are the in-neighbours, and i sends to every j that lists it.
struct Topology {
  std::string name;  ///< as the user wrote it, e.g. "torus:4x4"
  bool directed = false;
  std::vector<std::vector<PeerId>> neighbors;
  std::vector<double>
      edge_weights;  ///< of an edge list with a third column, in `edges()` order; otherwise empty

  PeerId size() const { return static_cast<PeerId>(neighbors.size()); }
  std::vector<Edge> edges() const;  ///< (u, v): u < v when undirected, else u -> v; sorted
};

/// Builds an undirected topology; drops duplicates and self-loops, sorts.
Topology make_topology(std::string name, PeerId n, const std::vector<Edge>& edges);

bool is_connected(const Topology& t);  ///< strongly, when directed
/// The parts that hear of each other, links taken both ways; each ascending, the largest first.
std::vector<std::vector<PeerId>> components(const Topology& t);
/// Why t is not connected, with its components; empty when it is.
std::string disconnection(const Topology& t);
/// Throws std::invalid_argument with the disconnection and the remedy unless t is connected.
void require_connected(const Topology& t);
/// Longest shortest path in hops; -1 when not connected. O(n m).
std::int64_t diameter(const Topology& t);

}  // namespace gv
