#include <algorithm>
#include <optional>
#include <set>
#include <span>
#include <stdexcept>
#include <vector>

#include "graph/topology/family.h"
#include "graph/topology/splitmix.h"

// Simple, connected graphs in which every peer has the same degree: half-edges are joined one
// suitable pair after the other, and begun again when that gets stuck. Steger & Wormald,
// "Generating random regular graphs quickly", Combinatorics, Probability and Computing 1999.

namespace gv {
namespace {

constexpr GraphParameter random_regular_parameters[] = {
    count_parameter(
        "degree", 3, 1, "number of neighbours per peer; peers times degree must be even"),
    seed_parameter};

/// The graph during construction: room for `degree` neighbours of each peer.
class Joined {
 public:
  Joined(PeerId n, PeerId degree)
      : degree_(degree), count_(n), neighbors_(std::size_t{n} * degree) {}

  bool contains(PeerId u, PeerId v) const {
    const std::span<const PeerId> known(&neighbors_[std::size_t{u} * degree_], count_[u]);
    return std::ranges::find(known, v) != known.end();
  }
  void join(PeerId u, PeerId v) {
    neighbors_[std::size_t{u} * degree_ + count_[u]++] = v;
    neighbors_[std::size_t{v} * degree_ + count_[v]++] = u;
  }
  /// Sorted.
  std::vector<Edge> edges() const {
    std::vector<Edge> edges;
    for (PeerId u = 0; u < count_.size(); ++u)
      for (PeerId k = 0; k < count_[u]; ++k) {
        const PeerId v = neighbors_[std::size_t{u} * degree_ + k];
        if (u < v) edges.emplace_back(u, v);
      }
    std::ranges::sort(edges);
    return edges;
  }

 private:
  PeerId degree_;
  std::vector<PeerId> count_;
  std::vector<PeerId> neighbors_;
};

/// Returns nothing if it gets stuck.
std::optional<std::vector<Edge>> pair_half_edges(PeerId n, PeerId degree, SplitMix& rng) {
  std::vector<PeerId> half_edges;
  half_edges.reserve(std::size_t{n} * degree);
  for (PeerId i = 0; i < n; ++i) half_edges.insert(half_edges.end(), degree, i);
  Joined joined(n, degree);
  int failures = 0;
  while (!half_edges.empty()) {
    const std::size_t a = rng.below(half_edges.size());
    const std::size_t b = rng.below(half_edges.size());
    const PeerId u = half_edges[a];
    const PeerId v = half_edges[b];
    if (u == v || joined.contains(u, v)) {
      if (++failures > 200) return {};
      continue;
    }
    failures = 0;
    joined.join(u, v);
    for (const std::size_t used : {std::max(a, b), std::min(a, b)}) {
      half_edges[used] = half_edges.back();
      half_edges.pop_back();
    }
  }
  return joined.edges();
}

/// Returns the edges that are not in `edges`; both are sorted.
std::vector<Edge> complement(PeerId n, const std::vector<Edge>& edges) {
  std::vector<Edge> others;
  auto next = edges.begin();
  for (PeerId i = 0; i < n; ++i) {
    for (PeerId j = i + 1; j < n; ++j) {
      if (next != edges.end() && *next == Edge(i, j))
        ++next;
      else
        others.emplace_back(i, j);
    }
  }
  return others;
}

Topology build_random_regular(const GraphParameters& p, PeerId n) {
  const PeerId degree = p.count("degree");
  const std::string what = "random-regular of degree " + std::to_string(degree) + " on " +
                           std::to_string(n) + " peers: ";
  if (degree >= n)
    throw std::invalid_argument(what + "the degree must be smaller than the number of peers");
  if (std::uint64_t{n} * degree % 2 != 0)
    throw std::invalid_argument(what + "degree times peers must be even");
  SplitMix rng(p.seed());
  // Pairing gets stuck on dense graphs: for these the missing pairs are drawn.
  const bool dense = degree > (n - 1) / 2;
  for (int attempt = 0; attempt < 1000; ++attempt) {
    const auto edges = pair_half_edges(n, dense ? n - 1 - degree : degree, rng);
    if (!edges) continue;
    Topology t = make_topology("random-regular", n, dense ? complement(n, *edges) : *edges);
    if (is_connected(t)) return t;
  }
  throw std::invalid_argument(what + "no connected graph in 1000 attempts");
}

SearchGroups search_highest_degrees(const SearchScope& scope) {
  SearchGroups groups;
  for (PeerId d = std::max<PeerId>(3, scope.max_degree - 1); d <= scope.max_degree; ++d)
    groups.push_back(with_seeds("degree=" + std::to_string(d), scope));
  return groups;
}

}  // namespace

extern constinit const TopologyFamily random_regular_family{
    .name = "random-regular",
    .summary = "every peer has D random neighbours; connected; Steger & Wormald 1999",
    .parameters = random_regular_parameters,
    .example = "degree=4,seed=2",
    .build = build_random_regular,
    .searched = search_highest_degrees,
};

namespace {

constexpr GraphParameter erdos_renyi_parameters[] = {
    share_parameter("p", 0.3, "probability that an edge exists"), seed_parameter};

/// Gilbert, "Random graphs", Annals of Mathematical Statistics 1959. May be disconnected.
Topology build_erdos_renyi(const GraphParameters& parameters, PeerId n) {
  const double p = parameters.number("p");
  SplitMix rng(parameters.seed());
  std::vector<Edge> edges;
  for (PeerId i = 0; i < n; ++i) {
    for (PeerId j = i + 1; j < n; ++j) {
      if (rng.uniform() < p) edges.emplace_back(i, j);
    }
  }
  return make_topology("erdos-renyi", n, edges);
}

}  // namespace

extern constinit const TopologyFamily erdos_renyi_family{
    .name = "erdos-renyi",
    .summary = "every edge exists with probability P; Gilbert 1959",
    .parameters = erdos_renyi_parameters,
    .example = "p=0.5,seed=1",
    .build = build_erdos_renyi,
};

namespace {

constexpr GraphParameter small_world_parameters[] = {
    count_parameter("k", 4, 2, "number of neighbours in the ring lattice; even"),
    share_parameter("beta", 0.1, "probability that an edge is rewired"), seed_parameter};

/// Watts & Strogatz, "Collective dynamics of small-world networks", Nature 1998.
Topology build_small_world(const GraphParameters& p, PeerId n) {
  const PeerId k = p.count("k");
  const double beta = p.number("beta");
  if (k % 2 != 0 || k >= n) {
    throw std::invalid_argument("small-world: k must be even and below the number of peers, " +
                                std::to_string(n) + ", not " + std::to_string(k));
  }
  std::set<Edge> edges;
  for (PeerId i = 0; i < n; ++i) {
    for (PeerId hop = 1; hop <= k / 2; ++hop) edges.insert(undirected_edge(i, (i + hop) % n));
  }
  SplitMix rng(p.seed());
  for (PeerId hop = 1; hop <= k / 2; ++hop) {
    for (PeerId i = 0; i < n; ++i) {
      const Edge old = undirected_edge(i, (i + hop) % n);
      if (rng.uniform() >= beta || !edges.contains(old)) continue;
      const auto target = static_cast<PeerId>(rng.below(n));
      if (target == i || edges.contains(undirected_edge(i, target))) continue;
      edges.erase(old);
      edges.insert(undirected_edge(i, target));
    }
  }
  return make_topology("small-world", n, {edges.begin(), edges.end()});
}

}  // namespace

extern constinit const TopologyFamily small_world_family{
    .name = "small-world",
    .summary = "a ring lattice of K neighbours, rewired with probability B; Watts & Strogatz 1998",
    .parameters = small_world_parameters,
    .example = "k=4,beta=0.3,seed=2",
    .build = build_small_world,
};

}  // namespace gv
