#include "graph/mixing/share_weights.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace gv {

std::vector<Neighborhood> share_rows(const Topology& t, std::span<const double> shares) {
  if (t.directed)
    throw std::invalid_argument(
        "weights `shares` move both ends of an edge, and this topology is directed: take an "
        "undirected one, such as `ring`");
  if (shares.size() != t.size() ||
      !std::ranges::all_of(shares, [](double p) { return std::isfinite(p) && p > 0; }))
    throw std::invalid_argument("weights `shares` need a share above 0 of each peer");
  const auto offer = [&](PeerId i) {
    return shares[i] / (1 + static_cast<double>(t.neighbors[i].size()));
  };
  std::vector<Neighborhood> rows(t.size());
  for (PeerId i = 0; i < t.size(); ++i) {
    Neighborhood& row = rows[i];
    row.peers = row.receivers = t.neighbors[i];
    for (const PeerId j : row.peers) {
      row.weights.push_back(std::min(offer(i), offer(j)));
      row.self -= row.weights.back() / shares[i];
    }
  }
  return rows;
}

}  // namespace gv
