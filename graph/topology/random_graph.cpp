#include "graph/topology/random_graph.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <stdexcept>
#include <utility>

#include "graph/topology/splitmix.h"

namespace gv {
namespace {

using EdgeSet = std::set<Edge>;

Edge ordered(PeerId u, PeerId v) {
  return {std::min(u, v), std::max(u, v)};
}

void check_probability(double p, const char* name) {
  if (!(p >= 0 && p <= 1)) throw std::invalid_argument(std::string(name) + " must lie in [0, 1]");
}

/// Joins half-edges at random, one suitable pair after the other (Steger & Wormald 1999); false
/// when it gets stuck.
bool pair_half_edges(PeerId n, PeerId degree, SplitMix& rng, EdgeSet& edges) {
  std::vector<PeerId> half_edges;
  for (PeerId i = 0; i < n; ++i) half_edges.insert(half_edges.end(), degree, i);
  edges.clear();
  int failures = 0;
  while (!half_edges.empty()) {
    const std::size_t a = rng.below(half_edges.size());
    const std::size_t b = rng.below(half_edges.size());
    if (half_edges[a] == half_edges[b] || edges.contains(ordered(half_edges[a], half_edges[b]))) {
      if (++failures > 200) return false;
      continue;
    }
    failures = 0;
    edges.insert(ordered(half_edges[a], half_edges[b]));
    for (const std::size_t used : {std::max(a, b), std::min(a, b)}) {
      half_edges[used] = half_edges.back();
      half_edges.pop_back();
    }
  }
  return true;
}

EdgeSet complement(PeerId n, const EdgeSet& edges) {
  EdgeSet others;
  for (PeerId i = 0; i < n; ++i) {
    for (PeerId j = i + 1; j < n; ++j)
      if (!edges.contains({i, j})) others.insert(others.end(), {i, j});
  }
  return others;
}

}  // namespace

Topology random_regular(PeerId n, PeerId degree, std::uint64_t seed) {
  const std::string what = "random-regular of degree " + std::to_string(degree) + " on " +
                           std::to_string(n) + " peers: ";
  if (degree >= n)
    throw std::invalid_argument(what + "the degree must be smaller than the number of peers");
  if (std::uint64_t{n} * degree % 2 != 0)
    throw std::invalid_argument(what + "degree times peers must be even");
  SplitMix rng(seed);
  EdgeSet edges;
  // Pairing gets stuck on dense graphs: of those, the pairs that are left out are drawn.
  const bool dense = degree > (n - 1) / 2;
  for (int attempt = 0; attempt < 1000; ++attempt) {
    if (!pair_half_edges(n, dense ? n - 1 - degree : degree, rng, edges)) continue;
    const EdgeSet chosen = dense ? complement(n, edges) : edges;
    Topology t = make_topology("random-regular", n, {chosen.begin(), chosen.end()});
    if (is_connected(t)) return t;
  }
  throw std::invalid_argument(what + "no connected graph in 1000 attempts");
}

Topology erdos_renyi(PeerId n, double p, std::uint64_t seed) {
  check_probability(p, "erdos-renyi: p");
  SplitMix rng(seed);
  std::vector<Edge> edges;
  for (PeerId i = 0; i < n; ++i) {
    for (PeerId j = i + 1; j < n; ++j) {
      if (rng.uniform() < p) edges.emplace_back(i, j);
    }
  }
  return make_topology("erdos-renyi", n, edges);
}

Topology small_world(PeerId n, PeerId k, double beta, std::uint64_t seed) {
  check_probability(beta, "small-world: beta");
  if (k % 2 != 0 || k >= n) {
    throw std::invalid_argument("small-world: k must be even and below the number of peers, " +
                                std::to_string(n) + ", not " + std::to_string(k));
  }
  EdgeSet edges;
  for (PeerId i = 0; i < n; ++i) {
    for (PeerId hop = 1; hop <= k / 2; ++hop) edges.insert(ordered(i, (i + hop) % n));
  }
  SplitMix rng(seed);
  for (PeerId hop = 1; hop <= k / 2; ++hop) {
    for (PeerId i = 0; i < n; ++i) {
      const Edge old = ordered(i, (i + hop) % n);
      if (rng.uniform() >= beta || !edges.contains(old)) continue;
      const auto target = static_cast<PeerId>(rng.below(n));
      if (target == i || edges.contains(ordered(i, target))) continue;
      edges.erase(old);
      edges.insert(ordered(i, target));
    }
  }
  return make_topology("small-world", n, {edges.begin(), edges.end()});
}

}  // namespace gv
