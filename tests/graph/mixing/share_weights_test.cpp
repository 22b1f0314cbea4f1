#include "graph/mixing/share_weights.h"

#include <cmath>
#include <numeric>
#include <random>
#include <stdexcept>

#include <gtest/gtest.h>

#include "graph/topologies.h"

namespace gv {
namespace {

constexpr const char* graphs[] = {"ring", "path", "star", "complete", "binary-tree", "torus:3x4"};

double uniform(std::mt19937_64& rng) {
  return static_cast<double>(rng() >> 11) * 0x1p-53;
}

/// Returns shares with sum n; the largest is up to a hundred times the least.
std::vector<double> drawn_shares(PeerId n, std::mt19937_64& rng) {
  std::vector<double> shares(n);
  for (double& p : shares) p = std::pow(100, uniform(rng));
  const double mean = std::accumulate(shares.begin(), shares.end(), 0.0) / n;
  for (double& p : shares) p /= mean;
  return shares;
}

/// Returns W by rows, from the result of share_rows.
std::vector<std::vector<double>> matrix(const std::vector<Neighborhood>& rows,
                                        const std::vector<double>& shares) {
  std::vector<std::vector<double>> w(rows.size(), std::vector<double>(rows.size()));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    w[i][i] = rows[i].self;
    for (std::size_t k = 0; k < rows[i].peers.size(); ++k)
      w[i][rows[i].peers[k]] = rows[i].weights[k] / shares[i];
  }
  return w;
}

TEST(ShareWeights, MakeAnAverageThatKeepsTheMeanByShares) {
  std::mt19937_64 rng(1);
  for (const char* graph : graphs) {
    SCOPED_TRACE(graph);
    const Topology t = build(parse_topology(graph), 12);
    const std::vector<double> shares = drawn_shares(12, rng);
    const std::vector<Neighborhood> rows = share_rows(t, shares);
    const auto w = matrix(rows, shares);
    for (std::size_t i = 0; i < 12; ++i) {
      EXPECT_NEAR(std::accumulate(w[i].begin(), w[i].end(), 0.0), 1, 1e-12);
      EXPECT_GE(w[i][i], 1 / (1 + static_cast<double>(t.neighbors[i].size())) - 1e-12);
      EXPECT_EQ(rows[i].peers, t.neighbors[i]);
      EXPECT_EQ(rows[i].receivers, t.neighbors[i]);
      double column = 0;
      for (std::size_t j = 0; j < 12; ++j) {
        column += shares[j] * w[j][i];
        EXPECT_GE(w[i][j], 0);
      }
      EXPECT_NEAR(column, shares[i], 1e-12) << "p W = p";
      for (const PeerId j : rows[i].peers)
        EXPECT_EQ(rows[i].weight_of(j), rows[j].weight_of(static_cast<PeerId>(i))) << "to the bit";
    }
  }
}

TEST(ShareWeights, OfEqualSharesAreMetropolis) {
  for (const char* graph : graphs) {
    const Topology t = build(parse_topology(graph), 12);
    const std::vector<Neighborhood> rows = share_rows(t, std::vector<double>(12, 1));
    const MixingMatrix w = metropolis(t);
    for (PeerId i = 0; i < 12; ++i) {
      EXPECT_NEAR(rows[i].self, w.row(i).self, 1e-15);
      EXPECT_EQ(rows[i].weights, w.row(i).weights) << graph;
    }
  }
}

/// For two peers W = [[1 - a / p, a / p], [a / q, 1 - a / q]] with a = min(p, q) / 2.
TEST(ShareWeights, HaveTheRateOfTwoPeersByHand) {
  const Topology t = build(parse_topology("path"), 2);
  for (const double p : {0.25, 1.0, 1.6}) {
    const double q = 2 - p;
    const double a = std::min(p, q) / 2;
    EXPECT_NEAR(share_rate(t, std::vector<double>{p, q}), std::abs(1 - a / p - a / q), 1e-12);
  }
}

/// The distance to the share-weighted mean, weighted by shares, finally falls by the rate.
TEST(ShareWeights, ComeTogetherByTheirRate) {
  std::mt19937_64 rng(2);
  for (const char* graph : graphs) {
    SCOPED_TRACE(graph);
    const Topology t = build(parse_topology(graph), 12);
    const std::vector<double> shares = drawn_shares(12, rng);
    const auto w = matrix(share_rows(t, shares), shares);
    std::vector<double> x(12);
    for (double& v : x) v = uniform(rng) - 0.5;
    double length = 0;
    for (int round = 0; round < 3000; ++round) {
      std::vector<double> next(12);
      double mean = 0;
      for (std::size_t i = 0; i < 12; ++i) mean += shares[i] * x[i] / 12;
      for (std::size_t i = 0; i < 12; ++i)
        for (std::size_t j = 0; j < 12; ++j) next[i] += w[i][j] * (x[j] - mean);
      length = 0;
      for (std::size_t i = 0; i < 12; ++i) length += shares[i] * next[i] * next[i];
      length = std::sqrt(length);
      if (length < 1e-12) break;
      for (std::size_t i = 0; i < 12; ++i) x[i] = next[i] / length;
    }
    EXPECT_NEAR(length, share_rate(t, shares), 1e-4);
  }
}

TEST(ShareWeights, RefuseWhatHasNone) {
  const Topology ring = build(parse_topology("ring"), 4);
  EXPECT_THROW(share_rows(ring, std::vector<double>{1, 1, 1}), std::invalid_argument);
  EXPECT_THROW(share_rows(ring, std::vector<double>{1, 1, 2, 0}), std::invalid_argument);
  EXPECT_THROW(share_rows(ring, std::vector<double>{1, 1, 3, -1}), std::invalid_argument);
  EXPECT_THROW(share_rows(ring, std::vector<double>{1, 1, 1, NAN}), std::invalid_argument);
  EXPECT_THROW(share_rows(build(parse_topology("exponential"), 4), std::vector<double>(4, 1)),
               std::invalid_argument);
  EXPECT_THROW(share_rate(build(parse_topology("ring"), 600), std::vector<double>(600, 1)),
               std::invalid_argument);
}

}  // namespace
}  // namespace gv
