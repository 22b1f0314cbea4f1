#include "graph/schedule/schedule.h"

#include <set>
#include <utility>

namespace gv {

MixingMatrix MixingSchedule::matrix(std::uint64_t round) const {
  std::vector<Neighborhood> rows;
  for (PeerId i = 0; i < size(); ++i) rows.push_back(row(round, i));
  return {std::move(rows), directed()};
}

Neighborhood MixingSchedule::links(PeerId i) const {
  std::set<PeerId> peers;
  std::set<PeerId> receivers;
  for (std::uint64_t k = 0; k < period(); ++k) {
    const Neighborhood one = row(k, i);
    peers.insert(one.peers.begin(), one.peers.end());
    receivers.insert(one.receivers.begin(), one.receivers.end());
  }
  for (PeerId j = 0; period() == 0 && j < size(); ++j)
    if (j != i) peers.insert(j);
  if (period() == 0) receivers = peers;
  return {.self = 1,
          .peers = {peers.begin(), peers.end()},
          .weights = std::vector<double>(peers.size()),
          .receivers = {receivers.begin(), receivers.end()}};
}

Topology MixingSchedule::topology(std::string name) const {
  Topology t{.name = std::move(name), .directed = directed(), .neighbors = {}, .edge_weights = {}};
  for (PeerId i = 0; i < size(); ++i) t.neighbors.push_back(links(i).peers);
  return t;
}

}  // namespace gv
