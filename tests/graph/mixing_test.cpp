#include "graph/mixing.h"

#include <cmath>

#include <gtest/gtest.h>

#include "graph/family.h"

namespace gv {
namespace {

using Case = std::tuple<const char*, const char*>;
class EveryFamily : public ::testing::TestWithParam<Case> {};

/// Built outside MixingMatrix's own check: the sums are taken again here.
TEST_P(EveryFamily, HasRowsAndColumnsThatSumToOne) {
  const auto [family, weights] = GetParam();
  for (const PeerId n : {1U, 2U, 3U, 16U, 100U}) {
    Topology t;
    try {
      t = build(parse_topology(family), n);
    } catch (const std::invalid_argument&) {
      continue;  // not possible on so many peers
    }
    const MixingMatrix w = mixing_matrix(weights, t);
    const std::vector<double> ones(n, 1.0);
    std::vector<double> rows(n);
    std::vector<double> columns(n);
    w.apply(ones.data(), rows.data());
    w.apply_transposed(ones.data(), columns.data());
    for (PeerId i = 0; i < n; ++i) {
      EXPECT_NEAR(rows[i], 1, 1e-12);
      EXPECT_NEAR(columns[i], 1, 1e-12);
      EXPECT_GT(w.row(i).self, 0);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Mixing,
                         EveryFamily,
                         ::testing::Combine(::testing::Values("ring",
                                                              "path",
                                                              "star",
                                                              "complete",
                                                              "grid",
                                                              "torus",
                                                              "hypercube",
                                                              "exponential",
                                                              "symmetric-exponential",
                                                              "random-regular:degree=3,seed=1",
                                                              "erdos-renyi:p=0.3,seed=1",
                                                              "small-world:k=4,beta=0.2,seed=1"),
                                            ::testing::Values("metropolis", "max-degree", "lazy")));

TEST(MixingMatrix, CannotExistUnlessDoublyStochastic) {
  const auto matrix = [](double self0, double w01, double w10, double self1) {
    return MixingMatrix({{self0, {1}, {w01}, {}}, {self1, {0}, {w10}, {}}}, false);
  };
  EXPECT_NO_THROW(matrix(0.5, 0.5, 0.5, 0.5));
  EXPECT_NO_THROW(matrix(0.5 + 1e-13, 0.5, 0.5, 0.5));
  EXPECT_THROW(matrix(0.5 + 1e-11, 0.5, 0.5, 0.5), std::invalid_argument);
  EXPECT_THROW(matrix(0.6, 0.4, 0.5, 0.5), std::invalid_argument);
  EXPECT_THROW(matrix(NAN, 0.5, 0.5, 0.5), std::invalid_argument);
  // Row sums are right, column sums are not.
  EXPECT_THROW(MixingMatrix({{0.5, {1}, {0.5}, {}}, {0.25, {0}, {0.75}, {}}}, true),
               std::invalid_argument);
}

TEST(MixingMatrix, KnowsWhoReceives) {
  const MixingMatrix w = metropolis(build(parse_topology("exponential"), 8));
  EXPECT_EQ(w.row(0).peers, (std::vector<PeerId>{4, 6, 7}));
  EXPECT_EQ(w.row(0).receivers, (std::vector<PeerId>{1, 2, 4}));
}

}  // namespace
}  // namespace gv
