#include <numbers>

#include <gtest/gtest.h>

#include "graph/mixing/optimal_weights.h"
#include "graph/predict/rates/mixing_rates.h"
#include "graph/schedule/schedule_rate.h"
#include "graph/schedules.h"
#include "graph/spectrum/spectrum.h"
#include "graph/topologies.h"
#include "tests/graph/reference_graphs.h"

// Tables of the project's theory sheet, to its number of digits: numpy's values and closed forms,
// computed without this program.

namespace gv {
namespace {

Topology graph_of(const std::string& name) {
  if (name == "G6") return g6();
  if (name == "G8") return g8();
  const auto colon = name.rfind(' ');
  return family(name.substr(0, colon), static_cast<PeerId>(std::stoul(name.substr(colon + 1))));
}

double degree(const Topology& t, PeerId i) {
  return static_cast<double>(t.neighbors[i].size());
}

/// W_ij = 1 / max(deg_i, deg_j): Boyd's convention, which fails on regular bipartite graphs.
MixingMatrix metropolis_boyd(const Topology& t) {
  return weighted_matrix(
      t, [&](PeerId i, PeerId j) { return 1 / std::max(degree(t, i), degree(t, j)); });
}

/// W_ij = 1 / deg_max.
MixingMatrix whole_degree(const Topology& t) {
  double most = 0;
  for (PeerId i = 0; i < t.size(); ++i) most = std::max(most, degree(t, i));
  return weighted_matrix(t, [most](PeerId, PeerId) { return 1 / most; });
}

double slem(const MixingMatrix& w) {
  return dense_spectrum(w).slem;
}

/// Section 3.1: slem by weights. FDLA and FMMC are in optimal_weights_test.
struct SlemRow {
  const char* graph;
  double best_constant, metropolis, boyd, whole_degree;
};

class SlemTable : public testing::TestWithParam<SlemRow> {};

TEST_P(SlemTable, Holds) {
  const SlemRow& row = GetParam();
  const Topology t = graph_of(row.graph);
  EXPECT_NEAR(slem(best_constant(t)), row.best_constant, 6e-7);
  EXPECT_NEAR(slem(metropolis(t)), row.metropolis, 6e-7);
  EXPECT_NEAR(slem(metropolis_boyd(t)), row.boyd, 6e-7);
  EXPECT_NEAR(slem(whole_degree(t)), row.whole_degree, 6e-7);
}

INSTANTIATE_TEST_SUITE_P(Sheet,
                         SlemTable,
                         testing::Values(SlemRow{"G6", 0.824621, 0.890388, 0.853851, 0.853851},
                                         SlemRow{"G8", 0.711858, 0.812555, 0.774303, 0.779254},
                                         SlemRow{"grid:4x4 16", 0.841983, 0.868641, 0.830076,
                                                 0.853553},
                                         SlemRow{"star 16", 0.882353, 0.937500, 0.933333, 0.933333},
                                         SlemRow{"ring 16", 0.926670, 0.949253, 1, 1}));

/// Section 3.2: the second singular value of a period of one-peer exponential.
struct ProductRow {
  PeerId n;
  double sigma;
};

class OnePeerTable : public testing::TestWithParam<ProductRow> {};

TEST_P(OnePeerTable, Holds) {
  const auto schedule = make_schedule(parse_schedule("one-peer-exponential"), GetParam().n);
  EXPECT_NEAR(schedule_rate(*schedule).product, GetParam().sigma, 6e-7);
}

INSTANTIATE_TEST_SUITE_P(Sheet,
                         OnePeerTable,
                         testing::Values(ProductRow{3, 0.25},
                                         ProductRow{5, 0.202254},
                                         ProductRow{6, 0.216506},
                                         ProductRow{7, 0.125},
                                         ProductRow{12, 0.209129},
                                         ProductRow{25, 0.192116}));

/// Section 3.2: value that random regular graphs approach (Friedman), over 20 seeds. The drawn
/// graphs differ from the sheet's, hence three standard errors of the mean, and half a last digit.
struct RegularRow {
  PeerId degree, n;
  double mean, scatter;
};

class RandomRegularTable : public testing::TestWithParam<RegularRow> {};

TEST_P(RandomRegularTable, Holds) {
  const auto& [degree, n, mean, scatter] = GetParam();
  double sum = 0;
  for (int seed = 1; seed <= 20; ++seed) {
    const std::string text =
        "random-regular:degree=" + std::to_string(degree) + ",seed=" + std::to_string(seed);
    sum += *spectrum(metropolis(family(text, n))).lambda2 / 20;
  }
  EXPECT_NEAR(sum, mean, scatter);
}

INSTANTIATE_TEST_SUITE_P(Sheet,
                         RandomRegularTable,
                         testing::Values(RegularRow{4, 64, 0.862, 0.012},
                                         RegularRow{4, 256, 0.886, 0.006},
                                         RegularRow{4, 1024, 0.890, 0.003}));

/// Section 5.1: the rows with best-constant weights and the identities; the others are in
/// spectrum_test.
TEST(SheetSpectra, OfBestConstantWeights) {
  const auto expect = [](const Topology& t, double value) {
    const Spectrum s = dense_spectrum(best_constant(t));
    EXPECT_NEAR(*s.lambda2, value, 6e-13) << t.name;
    EXPECT_NEAR(*s.lambda_n, -value, 6e-13) << t.name;
  };
  expect(g6(), 0.824621125124);
  expect(g8(), 0.711858015091);
  expect(family("ring", 16), 0.926670471506);
  expect(family("path", 16), 0.980785280403);
  EXPECT_NEAR(best_constant(g6()).row(0).weights[0], 0.4, 1e-12);
  EXPECT_NEAR(best_constant(g8()).row(0).weights[0], 0.261062237553, 1e-12);
}

TEST(SheetSpectra, GapsWithAllTheirDigits) {
  const auto gap = [](const char* text, PeerId n) {
    return closed_form_spectrum(parse_topology(text), n, "metropolis")->gap;
  };
  EXPECT_NEAR(gap("ring", 1000) / 1.315942924191343e-05, 1, 1e-15);
  EXPECT_NEAR(gap("ring", 64) / 3.210182218535409e-03, 1, 1e-15);
  EXPECT_NEAR(gap("torus:32x32", 1024) / 7.685887838707821e-03, 1, 1e-15);
}

TEST(SheetSpectra, Identities) {
  const auto same = [](const Topology& a, const Topology& b) {
    const std::vector<double> x = eigenvalues(metropolis(a));
    const std::vector<double> y = eigenvalues(metropolis(b));
    ASSERT_EQ(x.size(), y.size());
    for (std::size_t k = 0; k < x.size(); ++k) EXPECT_NEAR(x[k], y[k], 1e-14);
  };
  same(family("torus:4x4", 16), family("hypercube", 16));
  same(family("ring", 3), family("complete", 3));
  same(family("ring", 4), family("hypercube", 4));
  const Spectrum s = dense_spectrum(metropolis(g6()));
  EXPECT_NEAR(*s.lambda2, (3 + std::sqrt(17)) / 8, 1e-14);
  EXPECT_NEAR(*s.lambda_n, (3 - std::sqrt(17)) / 8, 1e-14);
}

Modes modes_named(const std::string& name, PeerId n) {
  if (!is_schedule(name)) return family_modes(name, n);
  return schedule_modes(parse_schedule(name), n).value();
}

/// Section 4.2: the small-step factors S1; atc 0: not in the sheet.
struct SmallStep {
  const char* graph;
  PeerId n;
  double lian, atc;
};

class SmallStepTable : public testing::TestWithParam<SmallStep> {};

TEST_P(SmallStepTable, Holds) {
  const SmallStep& row = GetParam();
  const Modes modes = modes_named(row.graph, row.n);
  EXPECT_NEAR(s1_lian(modes).value, row.lian, 6e-7);
  if (row.atc > 0) {
    EXPECT_NEAR(s1_atc(modes).value, row.atc, 6e-7);
  }
}

INSTANTIATE_TEST_SUITE_P(Sheet,
                         SmallStepTable,
                         testing::Values(SmallStep{"ring", 16, 2.409575, 1.472075},
                                         SmallStep{"ring", 64, 8.427153, 7.442778},
                                         SmallStep{"ring", 256, 32.431548, 31.435454},
                                         SmallStep{"torus", 16, 1.139323, 0.201823},
                                         SmallStep{"torus", 64, 1.424374, 0.439999},
                                         SmallStep{"torus", 256, 1.703864, 0.707770},
                                         SmallStep{"hypercube", 16, 1.139323, 0.201823},
                                         SmallStep{"hypercube", 64, 1.183529, 0.199154},
                                         SmallStep{"hypercube", 256, 1.159874, 0.163780},
                                         SmallStep{"exponential", 16, 1.118855, 0.181355},
                                         SmallStep{"exponential", 64, 1.159873, 0.175498},
                                         SmallStep{"exponential", 256, 1.141283, 0.145189},
                                         SmallStep{"one-peer-exponential", 16, 1.625, 0.6875},
                                         SmallStep{"one-peer-exponential", 64, 1.875, 0.890625},
                                         SmallStep{"random-matching", 16, 1.757812, 0.820312},
                                         SmallStep{"random-matching", 64, 1.937988, 0.953613},
                                         SmallStep{"star", 16, 7.288306, 0},
                                         SmallStep{"star", 64, 31.259719, 0},
                                         SmallStep{"star", 256, 127.252439, 0},
                                         SmallStep{"path", 16, 4.386138, 0},
                                         SmallStep{"path", 64, 16.421294, 0},
                                         SmallStep{"path", 256, 64.430083, 0}));

/// Section 4.2, last column: 1 / (1 - rho) of rings, which overstates their S1 by about n.
TEST(SheetSpectra, RhoOfRings) {
  for (const auto& [n, value] :
       {std::pair{16U, 10.109312}, std::pair{64U, 156.004800}, std::pair{256U, 2490.444438}}) {
    const double gap = closed_form_spectrum(parse_topology("ring"), n, "metropolis")->gap;
    EXPECT_NEAR(1 / (gap * (2 - gap)), value, 6e-7) << n;
  }
}

/// Section 4.5: effective neighbours at the discounts 0.9, 0.99 and 0.999.
struct NeighborsRow {
  const char* graph;
  PeerId n;
  double at90, at99, at999;
};

class NeighborsTable : public testing::TestWithParam<NeighborsRow> {};

TEST_P(NeighborsTable, Holds) {
  const NeighborsRow& row = GetParam();
  const Modes modes = modes_named(row.graph, row.n);
  EXPECT_NEAR(effective_neighbors(modes, 0.9).value, row.at90, 6e-7);
  EXPECT_NEAR(effective_neighbors(modes, 0.99).value, row.at99, 6e-7);
  EXPECT_NEAR(effective_neighbors(modes, 0.999).value, row.at999, 6e-7);
}

INSTANTIATE_TEST_SUITE_P(
    Sheet,
    NeighborsTable,
    testing::Values(NeighborsRow{"ring", 16, 6.601096, 13.119095, 15.634445},
                    NeighborsRow{"ring", 64, 6.632167, 17.813425, 44.721428},
                    NeighborsRow{"torus", 16, 12.234605, 15.501884, 15.948525},
                    NeighborsRow{"torus", 64, 19.109304, 50.168590, 62.250796},
                    NeighborsRow{"hypercube", 16, 12.234605, 15.501884, 15.948525},
                    NeighborsRow{"hypercube", 64, 29.153920, 56.808144, 63.195074},
                    NeighborsRow{"exponential", 16, 12.492139, 15.550288, 15.953723},
                    NeighborsRow{"exponential", 64, 30.810250, 57.562553, 63.289449},
                    NeighborsRow{"one-peer-exponential", 16, 7.801073, 14.420897, 15.825993},
                    NeighborsRow{"one-peer-exponential", 64, 10.156618, 40.873102, 60.551128},
                    NeighborsRow{"complete", 16, 16, 16, 16},
                    NeighborsRow{"complete", 64, 64, 64, 64}));

}  // namespace
}  // namespace gv
