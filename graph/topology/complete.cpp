#include <stdexcept>
#include <string>

#include "graph/topology/family.h"

namespace gv {
namespace {

constexpr PeerId most_peers = 4'000;  ///< 16 million neighbours: `plan` visits each several times
constexpr PeerId most_built = 500;    ///< above this, a report counts edges instead of making them

Topology build_complete(const GraphParameters&, PeerId n) {
  if (n > most_peers)
    throw std::invalid_argument(
        "complete: " + std::to_string(n) + " peers have " +
        std::to_string(std::uint64_t{n} * (n - 1) / 2) + " edges, and at most those of " +
        std::to_string(most_peers) +
        " peers are kept in memory; it averages exactly in one round (its gap is 1), and so does "
        "all-reduce, with two neighbours each; `grapevine graph report` has its figures");
  std::vector<Edge> edges;
  for (PeerId i = 0; i < n; ++i) {
    for (PeerId j = i + 1; j < n; ++j) edges.emplace_back(i, j);
  }
  return make_topology("complete", n, edges);
}

/// W takes the mean of all: every disagreement becomes 0.
std::optional<ExtremeEigenvalues> complete_extremes(const GraphParameters&, PeerId) {
  return ExtremeEigenvalues{1, 0, {}};
}

std::vector<Eigenvalue> complete_eigenvalues(const GraphParameters&, PeerId n) {
  return {{0.0, n - 1.0}};
}

}  // namespace

extern constinit const TopologyFamily complete_family{
    .name = "complete",
    .summary = "every peer with every other peer",
    .build = build_complete,
    .extremes = complete_extremes,
    .eigenvalues = complete_eigenvalues,
    .searched = search_alone,
};

std::optional<GraphCounts> counted(const TopologySpec& spec, PeerId n) {
  if (spec.family != &complete_family || n <= most_built) return std::nullopt;
  return GraphCounts{
      .peers = n, .edges = std::uint64_t{n} * (n - 1) / 2, .degree = n - 1, .diameter = 1};
}

}  // namespace gv
