#include <algorithm>
#include <cmath>
#include <set>

#include "graph/topology/family.h"

// The static exponential graph and its symmetric form. Ying et al. 2021, "Exponential graph is
// provably efficient for decentralized deep training", arXiv:2110.13363. Both are circulants.

namespace gv {
namespace {

using std::numbers::pi;

/// i receives from i - 2^k, k < ceil(log2 n).
Topology build_exponential(const GraphParameters&, PeerId n) {
  Topology t{.name = "exponential",
             .directed = true,
             .neighbors = std::vector<std::vector<PeerId>>(n),
             .edge_weights = {}};
  for (PeerId i = 0; i < n; ++i) {
    for (const PeerId hop : doubling_hops(n)) t.neighbors[i].push_back((i + n - hop) % n);
    std::ranges::sort(t.neighbors[i]);
  }
  return t;
}

Topology build_symmetric(const GraphParameters&, PeerId n) {
  std::vector<Edge> edges;
  for (PeerId i = 0; i < n; ++i) {
    for (const PeerId hop : doubling_hops(n)) edges.emplace_back((i + n - hop) % n, i);
  }
  return make_topology("symmetric-exponential", n, edges);
}

/// The largest |sum_j c_j w^(m j)| over m >= 1: a circulant is normal, so this is the second
/// singular value.
std::optional<ExtremeEigenvalues> exponential_extremes(const GraphParameters&, PeerId n) {
  std::vector<PeerId> hops = doubling_hops(n);
  hops.insert(hops.begin(), 0);
  double most = 0;
  for (PeerId m = 1; m < n; ++m) {
    std::complex<double> sum = 0;
    for (const PeerId hop : hops) sum += root_of_unity(std::uint64_t{m} * hop, n);
    most = std::max(most, std::abs(sum) / static_cast<double>(hops.size()));
  }
  return ExtremeEigenvalues{1 - most, 0, most};
}

std::vector<Eigenvalue> exponential_eigenvalues(const GraphParameters&, PeerId n) {
  const std::vector<PeerId> hops = doubling_hops(n);
  return circulant_eigenvalues(n, [&](PeerId m) {
    std::complex<double> sum = 1;
    for (const PeerId hop : hops) sum += root_of_unity(std::uint64_t{m} * hop, n);
    return sum / static_cast<double>(hops.size() + 1);
  });
}

std::set<PeerId> hops_both_ways(PeerId n) {
  std::set<PeerId> hops;
  for (const PeerId hop : doubling_hops(n)) hops.insert({hop, n - hop});
  return hops;
}

/// 1 - lambda_m = (2 / (deg + 1)) sum over hops of sin^2(pi m hop / n), since all weights are
/// equal.
std::optional<ExtremeEigenvalues> symmetric_extremes(const GraphParameters&, PeerId n) {
  const std::set<PeerId> hops = hops_both_ways(n);
  double least = HUGE_VAL;
  double most = 0;
  for (PeerId m = 1; m <= n / 2; ++m) {
    double sum = 0;
    for (const PeerId hop : hops) {
      const double sine = std::sin(pi * static_cast<double>(std::uint64_t{m} * hop % n) / n);
      sum += sine * sine;
    }
    least = std::min(least, sum);
    most = std::max(most, sum);
  }
  const double scale = 2 / static_cast<double>(hops.size() + 1);
  return ExtremeEigenvalues{scale * least, 1 - scale * most, {}};
}

std::vector<Eigenvalue> symmetric_eigenvalues(const GraphParameters&, PeerId n) {
  const std::set<PeerId> hops = hops_both_ways(n);
  return circulant_eigenvalues(n, [&](PeerId m) -> std::complex<double> {
    double sum = 1;
    for (const PeerId hop : hops) sum += root_of_unity(std::uint64_t{m} * hop, n).real();
    return sum / static_cast<double>(hops.size() + 1);
  });
}

}  // namespace

extern constinit const TopologyFamily exponential_family{
    .name = "exponential",
    .summary = "directed: i receives from i - 1, i - 2, i - 4, ...; arXiv:2110.13363",
    .build = build_exponential,
    .extremes = exponential_extremes,
    .eigenvalues = exponential_eigenvalues,
    .searched = search_alone,
};

extern constinit const TopologyFamily symmetric_exponential_family{
    .name = "symmetric-exponential",
    .summary = "the exponential graph without directions",
    .build = build_symmetric,
    .extremes = symmetric_extremes,
    .eigenvalues = symmetric_eigenvalues,
    .searched = search_alone,
};

}  // namespace gv
