#include <algorithm>
#include <stdexcept>

#include "graph/topology/family.h"

// Arden & Lee, "Analysis of chordal ring network", IEEE Transactions on Computers C-30(4), 1981.

namespace gv {
namespace {

constexpr GraphParameter chordal_ring_parameters[] = {
    count_parameter("chord", 5, 3, "how many places further on an odd peer's chord ends; odd")};

Topology build_chordal_ring(const GraphParameters& p, PeerId n) {
  const PeerId chord = p.count("chord");
  if (n % 2 != 0 || chord % 2 == 0 || chord >= n) {
    throw std::invalid_argument(
        "chordal-ring: the number of peers must be even and the chord odd and below it, not " +
        std::to_string(n) + " and " + std::to_string(chord));
  }
  std::vector<Edge> edges;
  for (PeerId i = 0; i < n; ++i) {
    edges.emplace_back(i, (i + 1) % n);
    if (i % 2 != 0) edges.emplace_back(i, (i + chord) % n);
  }
  return make_topology("chordal-ring", n, edges);
}

/// Returns one group: the chords of which the best is searched.
SearchGroups search_chords(const SearchScope& scope) {
  if (scope.max_degree < 3 || scope.peers % 2 != 0 || scope.peers < 6) return {};
  std::vector<std::string> chords;
  for (PeerId chord = 3; chord <= std::min<PeerId>(scope.peers / 2, 33); chord += 2)
    chords.push_back("chord=" + std::to_string(chord));
  return {chords};
}

}  // namespace

extern constinit const TopologyFamily chordal_ring_family{
    .name = "chordal-ring",
    .summary = "a ring with a chord from every odd peer to an even one; Arden & Lee 1981",
    .parameters = chordal_ring_parameters,
    .example = "chord=5",
    .build = build_chordal_ring,
    .searched = search_chords,
};

}  // namespace gv
