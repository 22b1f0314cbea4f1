#include "peer/study/predict/forecast/placement.h"

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "optim/rng.h"
#include "peer/study/predict/forecast/round_prediction.h"

namespace gv {
namespace {

/// Their rows when they stand so.
std::vector<Neighborhood> rows_of(const MixingMatrix& w, const std::vector<PeerId>& peers) {
  std::vector<Neighborhood> rows(peers.size());
  for (PeerId place = 0; place < peers.size(); ++place) {
    Neighborhood row = w.row(place);
    for (PeerId& each : row.peers) each = peers[each];
    for (PeerId& each : row.receivers) each = peers[each];
    std::ranges::sort(row.receivers);  // in which order a model goes to its neighbours
    rows[peers[place]] = std::move(row);
  }
  return rows;
}

Topology placed(const Topology& graph, const std::vector<PeerId>& peers) {
  Topology other{
      .name = graph.name, .directed = graph.directed, .neighbors = {}, .edge_weights = {}};
  other.neighbors.resize(graph.size());
  for (PeerId place = 0; place < graph.size(); ++place) {
    std::vector<PeerId>& heard = other.neighbors[peers[place]];
    for (const PeerId each : graph.neighbors[place]) heard.push_back(peers[each]);
    std::ranges::sort(heard);
  }
  return other;
}

/// A smaller predicted gain may as well be a loss: predictions are no better than a few per cent.
constexpr double worth_moving = 0.95;

void check(const Assembly& fleet) {
  if (!fleet.is_plain_d_psgd() || !fleet.w)
    throw std::invalid_argument(
        "--place: only d-psgd on a graph that stays has places to choose; this fleet has none");
  if (fleet.fleet.weights.starts_with("file:") || !fleet.topology.edge_weights.empty())
    throw std::invalid_argument(
        "--place: the weights come from a file, which fixes who stands where; leave them out");
}

}  // namespace

Placement best_placement(const Assembly& fleet) {
  check(fleet);
  const PeerId n = fleet.fleet.trainers();
  const GossipClock clock(fleet);
  Placement best;
  best.peers.resize(n);
  std::iota(best.peers.begin(), best.peers.end(), 0U);
  const std::vector<Neighborhood> rows = rows_of(*fleet.w, best.peers);
  best.seconds = best.seconds_as_numbered = clock.seconds(rows);
  constexpr double most_work = 1e9;
  const auto swaps =
      static_cast<std::size_t>(std::clamp(most_work / clock.work(rows), 300.0, 10'000.0));
  Rng rng = Rng(fleet.fleet.seed).derive("placement");
  std::vector<PeerId> peers = best.peers;
  double seconds = best.seconds;
  for (; n > 2 && best.tried < swaps; ++best.tried) {
    const auto a = static_cast<std::size_t>(rng.below(n));
    const auto b = static_cast<std::size_t>(rng.below(n));
    std::swap(peers[a], peers[b]);
    const double other = a == b ? seconds : clock.seconds(rows_of(*fleet.w, peers));
    if (other > seconds) {
      std::swap(peers[a], peers[b]);
      continue;
    }
    seconds = other;
    if (seconds < best.seconds) {
      best.seconds = seconds;
      best.peers = peers;
    }
  }
  if (best.seconds > worth_moving * best.seconds_as_numbered) {
    std::iota(best.peers.begin(), best.peers.end(), 0U);
    best.seconds = best.seconds_as_numbered;
  }
  best.graph = placed(fleet.topology, best.peers);
  return best;
}

}  // namespace gv
