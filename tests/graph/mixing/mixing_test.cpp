#include "graph/mixing/mixing.h"

#include <cmath>
#include <functional>

#include <gtest/gtest.h>

#include "graph/topologies.h"
#include "graph/weights.h"

namespace gv {
namespace {

using Case = std::tuple<const char*, const char*>;
class EveryFamily : public ::testing::TestWithParam<Case> {};

/// Sums the rows and columns again, apart from MixingMatrix's own check.
TEST_P(EveryFamily, HasRowsAndColumnsThatSumToOne) {
  const auto [family, weights] = GetParam();
  for (const PeerId n : {1U, 2U, 3U, 16U, 100U}) {
    Topology t;
    try {
      t = build(parse_topology(family), n);
    } catch (const std::invalid_argument&) {
      continue;  // impossible with this number of peers
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
                                                              "king-torus",
                                                              "ring-lattice:k=6",
                                                              "binary-tree",
                                                              "d-equi-static:m=5,seed=2",
                                                              "u-equi-static:m=5,seed=2",
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

std::string refusal(const std::function<void()>& make) {
  try {
    make();
  } catch (const std::invalid_argument& e) {
    return e.what();
  }
  return "";
}

TEST(MixingMatrix, NamesTheWorstRowAndColumn) {
  const std::string what = refusal([] {
    MixingMatrix({{0.5, {2}, {0.5}, {}}, {0.5, {0}, {0.5}, {}}, {0.5, {1}, {0.25}, {}}}, true);
  });
  EXPECT_NE(what.find("row 2 sums to 0.75, column 1 to 0.75"), std::string::npos) << what;
}

TEST(MixingMatrix, RefusesWeightsThatBlowUp) {
  Topology t = build(parse_topology("ring"), 4);
  t.edge_weights.assign(4, 0.75);
  const std::string what = refusal([&] { mixing_matrix("edge-list", t); });
  EXPECT_NE(what.find("||W - J|| is "), std::string::npos) << what;
  // FDLA's weight of a star's centre is negative, and correct.
  Topology star = build(parse_topology("star"), 16);
  star.edge_weights.assign(15, 2.0 / 17);
  EXPECT_LT(mixing_matrix("edge-list", star).row(0).self, 0);
}

TEST(MixingMatrix, KnowsEveryNameItLists) {
  Topology t = build(parse_topology("grid"), 6);
  t.edge_weights.assign(t.edges().size(), 0.2);
  for (const std::string& name : weight_names()) EXPECT_EQ(mixing_matrix(name, t).size(), 6U);
  EXPECT_NE(refusal([&] { mixing_matrix("fdal", t); }).find("fdla"), std::string::npos);
}

TEST(MixingMatrix, KnowsWhoReceives) {
  const MixingMatrix w = metropolis(build(parse_topology("exponential"), 8));
  EXPECT_EQ(w.row(0).peers, (std::vector<PeerId>{4, 6, 7}));
  EXPECT_EQ(w.row(0).receivers, (std::vector<PeerId>{1, 2, 4}));
}

}  // namespace
}  // namespace gv
