#include "graph/spectrum/spectrum.h"

#include <cmath>
#include <numbers>

#include <gtest/gtest.h>

#include "graph/topologies.h"
#include "graph/weights.h"
#include "tests/graph/reference_graphs.h"

namespace gv {
namespace {

MixingMatrix metropolis_of(const char* family, PeerId n) {
  return metropolis(build(parse_topology(family), n));
}

void expect_same(const Spectrum& a, const Spectrum& b, double tolerance) {
  ASSERT_EQ(a.lambda2.has_value(), b.lambda2.has_value());
  if (a.lambda2) {
    EXPECT_NEAR(*a.lambda2, *b.lambda2, tolerance);
    EXPECT_NEAR(*a.lambda_n, *b.lambda_n, tolerance);
  }
  EXPECT_NEAR(a.slem, b.slem, tolerance);
  EXPECT_NEAR(a.gap, b.gap, tolerance);
}

TEST(Spectrum, ClosedFormsAgreeWithTheDenseSolver) {
  for_each_closed_form([](const TopologySpec& spec, PeerId n, const char* weights) {
    const auto closed = closed_form_spectrum(spec, n, weights);
    if (!closed) return;
    SCOPED_TRACE(to_string(spec) + " " + std::to_string(n) + " " + weights);
    expect_same(*closed, dense_spectrum(mixing_matrix(weights, build(spec, n))), 1e-10);
  });
}

TEST(Spectrum, ClosedFormsAgreeAtAThousand) {
  for (const char* family : {"ring", "path", "star", "torus:25x40"}) {
    const TopologySpec spec = parse_topology(family);
    expect_same(closed_form_spectrum(spec, 1000, "metropolis").value(),
                dense_spectrum(metropolis(build(spec, 1000))), 1e-10);
  }
}

struct Row {
  const char* topology;
  PeerId peers;
  double lambda2, lambda_n;
};

/// Table 5.1 of the project's theory sheet (Metropolis weights).
TEST(Spectrum, ReferenceTable) {
  const std::vector<Row> table{{"ring", 3, 0, 0},
                               {"ring", 4, 0.333333333333, -0.333333333333},
                               {"ring", 8, 0.804737854124, -0.333333333333},
                               {"ring", 16, 0.949253021674, -0.333333333333},
                               {"ring", 64, 0.996789817781, -0.333333333333},
                               {"ring", 1000, 0.999986840571, -0.333333333333},
                               {"torus:4x4", 16, 0.6, -0.6},
                               {"torus:8x8", 64, 0.882842712475, -0.6},
                               {"torus:32x32", 1024, 0.992314112161, -0.6},
                               {"hypercube", 8, 0.5, -0.5},
                               {"hypercube", 16, 0.6, -0.6},
                               {"hypercube", 32, 0.666666666667, -0.666666666667},
                               {"hypercube", 64, 0.714285714286, -0.714285714286},
                               {"hypercube", 128, 0.75, -0.75},
                               {"hypercube", 256, 0.777777777778, -0.777777777778},
                               {"hypercube", 512, 0.8, -0.8},
                               {"hypercube", 1024, 0.818181818182, -0.818181818182},
                               {"complete", 16, 0, 0},
                               {"star", 16, 0.9375, 0},
                               {"path", 16, 0.987190186935, -0.320523520269},
                               {"grid:4x4", 16, 0.868640618290, -0.430842909998},
                               {"symmetric-exponential", 8, 0.333333333333, -0.235702260396},
                               {"symmetric-exponential", 16, 0.5, -0.272447553388},
                               {"symmetric-exponential", 64, 0.666666666667, -0.352792863900}};
  for (const Row& row : table) {
    SCOPED_TRACE(std::string(row.topology) + " " + std::to_string(row.peers));
    const TopologySpec spec = parse_topology(row.topology);
    const MixingMatrix w = metropolis(build(spec, row.peers));
    for (const Spectrum& s : {spectrum(w, &spec), spectrum(w)}) {
      const double tolerance = s.method == "lanczos" ? 1e-10 : 1.1e-12;
      EXPECT_NEAR(*s.lambda2, row.lambda2, tolerance);
      EXPECT_NEAR(*s.lambda_n, row.lambda_n, tolerance);
    }
  }
  const TopologySpec ring = parse_topology("ring");
  EXPECT_NEAR(closed_form_spectrum(ring, 64, "metropolis")->gap, 3.210182218535409e-03, 1e-17);
}

/// The table's other graphs, from their edge lists.
TEST(Spectrum, ReferenceEdgeLists) {
  const auto expect = [](const MixingMatrix& w, double lambda2, double lambda_n) {
    const Spectrum s = dense_spectrum(w);
    EXPECT_NEAR(*s.lambda2, lambda2, 1e-12);
    EXPECT_NEAR(*s.lambda_n, lambda_n, 1e-12);
  };
  expect(metropolis(g6()), 0.890388203202, -0.140388203202);
  expect(max_degree(g6()), 0.890388203202, -0.140388203202);
  expect(lazy(g6()), 0.945194101601, 0.429805898399);
  expect(metropolis(g8()), 0.812554540779, -0.149472336026);
  expect(max_degree(g8()), 0.816045152292, -0.092879888933);
  expect(lazy(g8()), 0.906277270390, 0.425263831987);
  expect(max_degree(build(parse_topology("grid:4x4"), 16)), 0.882842712475, -0.365685424949);
}

TEST(Spectrum, StaticExponentialGraph) {
  const TopologySpec spec = parse_topology("exponential");
  const std::vector<std::pair<PeerId, double>> gaps{{8, 0.5},
                                                    {16, 0.4},
                                                    {64, 0.285714285714},
                                                    {1000, 0.181818181818},
                                                    {5, 0.75},
                                                    {7, 0.646446609407},
                                                    {9, 0.558213388995},
                                                    {15, 0.510102051443},
                                                    {25, 0.489139129116},
                                                    {63, 0.389130517283},
                                                    {6, 0.5},
                                                    {12, 0.4}};
  for (const auto& [n, gap] : gaps) {
    EXPECT_NEAR(closed_form_spectrum(spec, n, "metropolis")->gap, gap, 1e-12);
    EXPECT_NEAR(spectrum(metropolis(build(spec, n))).gap, gap, 1e-9) << n;
  }
}

/// Ring lattice with weights 1 / (k + 1): sin((k + 1) pi m / n) / ((k + 1) sin(pi m / n)); a torus
/// with its diagonals: products of ring eigenvalues.
TEST(Spectrum, OfCirculantsAndProducts) {
  const double pi = std::numbers::pi;
  const double lambda = std::sin(7 * pi / 30) / (7 * std::sin(pi / 30));
  EXPECT_NEAR(*dense_spectrum(metropolis_of("ring-lattice:k=6", 30)).lambda2, lambda, 1e-12);
  const double ring = 1.0 / 3 + 2.0 / 3 * std::cos(2 * pi / 8);
  EXPECT_NEAR(*dense_spectrum(metropolis_of("king-torus:5x8", 40)).lambda2, ring, 1e-12);
}

/// Checks the sparse methods on graphs with known answers: both gaps within a relative 1e-6.
TEST(Spectrum, SparseMethodsKeepTheDigitsOfTheGap) {
  const std::vector<std::tuple<const char*, PeerId, const char*>> cases{
      {"ring", 1000, "lanczos"},           {"ring", 20000, "shift-invert"},
      {"path", 20001, "shift-invert"},     {"star", 20000, "lanczos"},
      {"complete", 600, "lanczos"},        {"torus:4x5000", 20000, "shift-invert"},
      {"torus:100x101", 10100, "lanczos"}, {"hypercube", 16384, "lanczos"},
      {"exponential", 5000, "lanczos"}};
  for (const auto& [family, n, method] : cases) {
    SCOPED_TRACE(std::string(family) + " " + std::to_string(n));
    const TopologySpec spec = parse_topology(family);
    const Spectrum exact = closed_form_spectrum(spec, n, "metropolis").value();
    const Spectrum found = sparse_spectrum(metropolis(build(spec, n)));
    EXPECT_EQ(found.method, method);
    EXPECT_NEAR(found.gap / exact.gap, 1, 1e-6);
    EXPECT_LE(found.gap_error, 1e-6);
    if (exact.lambda2) {
      EXPECT_NEAR((1 + *found.lambda_n) / (1 + *exact.lambda_n), 1, 1e-6);
    }
  }
  EXPECT_NEAR(
      closed_form_spectrum(parse_topology("ring"), 1000, "metropolis")->gap / 1.315942924191343e-05,
      1, 1e-14);
}

/// I - a L on a grid: 1 - a (4 sin^2(pi p / 2r) + 4 sin^2(pi q / 2c)).
TEST(Spectrum, GridOfConstantWeights) {
  const MixingMatrix w = max_degree(build(parse_topology("grid:40x300"), 12000));
  const double sine = std::sin(std::numbers::pi / 600);
  EXPECT_NEAR(sparse_spectrum(w).gap / (0.8 * sine * sine), 1, 1e-6);
}

TEST(Spectrum, LanczosAgreesWithTheDenseSolverOnRandomGraphs) {
  for (const char* family : {"random-regular:degree=4,seed=2", "erdos-renyi:p=0.05,seed=3",
                             "small-world:k=4,beta=0.1,seed=4", "exponential"}) {
    const MixingMatrix w = metropolis_of(family, 300);
    expect_same(sparse_spectrum(w), dense_spectrum(w), 1e-8);
  }
}

TEST(Spectrum, ADisconnectedGraphHasNoGap) {
  const Spectrum s = dense_spectrum(metropolis(make_topology("islands", 4, {{0, 1}, {2, 3}})));
  EXPECT_EQ(s.gap, 0);
  std::vector<Edge> two_rings;
  for (PeerId i = 0; i < 1000; ++i) {
    two_rings.emplace_back(i, (i + 1) % 1000);
    two_rings.emplace_back(1000 + i, 1000 + (i + 1) % 1000);
  }
  EXPECT_EQ(sparse_spectrum(lazy(make_topology("rings", 2000, two_rings))).gap, 0);
}

/// Even rings without self weights average for ever: lambda_n = -1.
TEST(Spectrum, ABipartiteGraphWithoutSelfWeightsHasNoGap) {
  std::vector<Neighborhood> rows;
  for (PeerId i = 0; i < 600; ++i) {
    const PeerId a = (i + 1) % 600;
    const PeerId b = (i + 599) % 600;
    rows.push_back({0, {std::min(a, b), std::max(a, b)}, {0.5, 0.5}, {}});
  }
  const Spectrum s = sparse_spectrum(MixingMatrix(rows, false));
  EXPECT_NEAR(*s.lambda_n, -1, 1e-12);
  EXPECT_NEAR(s.gap, 0, 1e-12);
}

/// Pure averaging shrinks a disagreement at least by slem per round.
TEST(Spectrum, BoundsTheDecayOfADisagreement) {
  for (const char* family :
       {"ring", "torus", "star", "grid", "random-regular:degree=3,seed=1", "exponential"}) {
    const MixingMatrix w = metropolis_of(family, 36);
    const double slem = spectrum(w).slem;
    std::vector<double> x(36);
    std::vector<double> y(36);
    for (std::size_t i = 0; i < 36; ++i) x[i] = std::sin(static_cast<double>(i * i));
    double mean = 0;
    for (const double v : x) mean += v / 36;
    const auto spread = [&](const std::vector<double>& v) {
      double sum = 0;
      for (const double value : v) sum += (value - mean) * (value - mean);
      return std::sqrt(sum);
    };
    for (int round = 0; round < 20; ++round) {
      w.apply(x.data(), y.data());
      EXPECT_LE(spread(y), slem * spread(x) + 1e-12) << family;
      x.swap(y);
    }
  }
}

}  // namespace
}  // namespace gv
