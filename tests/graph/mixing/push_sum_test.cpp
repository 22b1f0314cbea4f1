#include <cmath>

#include <gtest/gtest.h>

#include "graph/mixing/share_weights.h"
#include "graph/spectrum/spectrum.h"
#include "graph/topologies.h"

namespace gv {
namespace {

/// Returns the digraph with these edges u -> v.
Topology digraph(PeerId n, const std::vector<Edge>& edges) {
  Topology t{.name = "digraph",
             .directed = true,
             .neighbors = std::vector<std::vector<PeerId>>(n),
             .edge_weights = {}};
  for (const auto& [u, v] : edges) t.neighbors[v].push_back(u);
  return t;
}

/// Returns x after one round of equal shares.
std::vector<double> pushed(const Topology& t, const std::vector<double>& x) {
  std::vector<double> receivers(t.size());
  for (const auto& list : t.neighbors)
    for (const PeerId j : list) receivers[j] += 1;
  std::vector<double> y;
  for (PeerId i = 0; i < t.size(); ++i) {
    double sum = x[i] / (1 + receivers[i]);
    for (const PeerId j : t.neighbors[i]) sum += x[j] / (1 + receivers[j]);
    y.push_back(sum);
  }
  return y;
}

/// Section 5.3 of the project's theory sheet: P = [[.5, 0, 1/3], [.5, .5, 1/3], [0, .5, 1/3]],
/// whose other two eigenvalues have the sum 1/3 and the product 1/12.
TEST(PushSum, OfTheSheetsThreePeers) {
  const Topology t = digraph(3, {{0, 1}, {1, 2}, {2, 0}, {2, 1}});
  const PushSum p = push_sum(t);
  EXPECT_NEAR(p.rate, std::sqrt(1.0 / 12), 1e-12);
  ASSERT_EQ(p.perron.size(), 3U);
  for (int i = 0; i < 3; ++i) EXPECT_NEAR(p.perron[i], (i == 0 ? 2 : 5 - i) / 9.0, 1e-12) << i;
  std::vector<double> x{1, 5, 9};
  std::vector<double> w{1, 1, 1};
  for (int round = 0; round < 3; ++round) {
    x = pushed(t, x);
    w = pushed(t, w);
  }
  const std::vector<double> z{5.139860139860, 4.986206896552, 4.925581395349};
  for (int i = 0; i < 3; ++i) EXPECT_NEAR(x[i] / w[i], z[i], 1e-12);
}

/// In rounds, w / n tends to the Perron vector, and the distance to the mean falls by the rate.
TEST(PushSum, IsWhatRoundsOfItDo) {
  const PeerId n = 9;
  const Topology t = digraph(n, {{0, 1},
                                 {1, 2},
                                 {2, 3},
                                 {3, 4},
                                 {4, 5},
                                 {5, 6},
                                 {6, 7},
                                 {7, 8},
                                 {8, 0},
                                 {4, 0},
                                 {2, 7},
                                 {6, 1}});
  const PushSum p = push_sum(t);
  std::vector<double> x{3, 1, 4, 1, 5, 9, 2, 6, 5};
  std::vector<double> w(n, 1);
  const auto distance = [&] {
    double most = 0;
    for (PeerId i = 0; i < n; ++i) most = std::max(most, std::abs(x[i] / w[i] - 4));
    return most;
  };
  double early = 0;
  for (int round = 0; round < 100; ++round) {
    if (round == 20) early = distance();
    x = pushed(t, x);
    w = pushed(t, w);
  }
  EXPECT_NEAR(std::pow(distance() / early, 1.0 / 80), p.rate, 0.01);
  for (PeerId i = 0; i < n; ++i) EXPECT_NEAR(w[i] / n, p.perron[i], 1e-9);
}

/// P is W if degrees are equal: its rate is slem, since a circulant is normal.
TEST(PushSum, OfCirculantsIsTheirSlem) {
  for (const PeerId n : {8U, 12U, 15U}) {
    const Topology t = build(parse_topology("exponential"), n);
    const PushSum p = push_sum(t);
    EXPECT_NEAR(p.rate, spectrum(metropolis(t)).slem, 1e-9) << n;
    for (const double share : p.perron) EXPECT_NEAR(share, 1.0 / n, 1e-12);
  }
}

/// Final weights by the eigenvector: a circle of peers with unlike degrees has some weights below
/// 1; the pushes under way for `overlap` rounds are missing from all.
TEST(PushSum, LeastWeightsAreThoseOfTheEigenvector) {
  const Topology t = digraph(6, {{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 5}, {5, 0}, {1, 0}, {2, 0}});
  std::vector<std::vector<PeerId>> receivers(6);
  for (PeerId i = 0; i < 6; ++i)
    for (const PeerId j : t.neighbors[i]) receivers[j].push_back(i);
  const auto of = [&](std::uint64_t, PeerId i) { return receivers[i]; };
  const PushSum p = push_sum(t);
  const std::vector<double> now = least_weights(6, 0, of);
  const std::vector<double> later = least_weights(6, 3, of);
  double under_way = 0;  // pushes of one round, as a part of the total
  for (PeerId i = 0; i < 6; ++i) {
    const auto out = static_cast<double>(receivers[i].size());
    under_way += p.perron[i] * out / (1 + out);
  }
  for (PeerId i = 0; i < 6; ++i) {
    EXPECT_NEAR(now[i], std::min(1.0, 6 * p.perron[i]), 1e-9);
    EXPECT_NEAR(later[i], 6 * p.perron[i] / (1 + 3 * under_way), 1e-9);
  }
}

TEST(PushSum, NeedsAWayFromEveryoneToEveryone) {
  EXPECT_THROW(push_sum(digraph(3, {{0, 1}, {1, 2}})), std::invalid_argument);
  EXPECT_THROW(push_sum(build(parse_topology("exponential"), 513)), std::invalid_argument);
}

}  // namespace
}  // namespace gv
