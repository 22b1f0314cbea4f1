#include "graph/schedule/schedule.h"

#include <algorithm>
#include <set>
#include <vector>

#include "graph/formats/matrix_file.h"
#include "graph/spectrum/spectrum.h"

namespace gv {
namespace {

constexpr GraphParameter matrices_parameters[] = {
    {"file", GraphParameter::Kind::path, 0, 0, 0,
     "path of the file, relative to the fleet file: .npy of shape (rounds, n, n), else n lines of "
     "n numbers for each round"}};

std::unique_ptr<MixingSchedule> make_matrices(const ScheduleSpec& spec, PeerId n) {
  std::vector<MixingMatrix> matrices = read_matrices(spec.parameters.text("file"), n);
  for (std::size_t k = 0; k < matrices.size(); ++k)
    require_bounded(matrices[k], "W_" + std::to_string(k));
  return std::make_unique<PeriodicSchedule>(std::move(matrices));
}

}  // namespace

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

Neighborhood among_copies(Neighborhood row, const ChainMap& chains, PeerId i) {
  for (PeerId& peer : row.peers) peer = chains.counterpart(i, peer);
  for (PeerId& peer : row.receivers) peer = chains.counterpart(i, peer);
  return row;
}

void ScheduleSpec::set_graph(TopologySpec graph) {
  topology = std::move(graph);
  parameters.set("graph", to_string(topology));
}

std::string to_string(const ScheduleSpec& spec) {
  if (spec.is_static()) return to_string(spec.topology);
  return to_string(spec.family->name, spec.parameters);
}

std::optional<Modes> schedule_modes(const ScheduleSpec& spec, PeerId n) {
  if (spec.is_static() || spec.family->modes == nullptr) return std::nullopt;
  return spec.family->modes(spec, n);
}

// The user's own W_0, W_1, ..., over and over: time-varying averaging as in Nedic & Ozdaglar,
// "Distributed subgradient methods for multi-agent optimization", IEEE TAC 2009, whose union over a
// period must connect all peers.

extern constinit const ScheduleFamily matrices_family{
    .name = "matrices",
    .summary = "your own W of each round from a file, over and over; each doubly stochastic",
    .parameters = matrices_parameters,
    .example = "rounds.npy",
    .make = make_matrices,
};

// Lamport 1978: a peer that depends on i in one round does so in all later ones.
std::uint64_t longest_lead(const MixingSchedule& schedule,
                           std::uint64_t round,
                           PeerId i,
                           std::uint64_t limit) {
  const PeerId n = schedule.size();
  std::vector<bool> blocked(n);
  blocked[i] = true;
  for (std::uint64_t k = 0; k < limit; ++k) {
    std::vector<bool> next = blocked;
    for (PeerId j = 0; j < n; ++j) {
      if (blocked[j]) continue;
      next[j] = std::ranges::any_of(schedule.row(round + k, j).peers,
                                    [&](PeerId p) { return blocked[p]; });
    }
    blocked.swap(next);
    if (std::ranges::find(blocked, false) == blocked.end()) return k;
  }
  return limit;
}

}  // namespace gv
