#include <cmath>
#include <functional>
#include <numeric>

#include <gtest/gtest.h>

#include "graph/mixing/mixing.h"
#include "graph/predict/quadratic.h"
#include "graph/predict/rates/mixing_rates.h"
#include "graph/predict/rates/stable_rates.h"
#include "graph/spectrum/modes.h"
#include "graph/spectrum/spectrum.h"
#include "graph/topologies.h"
#include "graph/weights.h"
#include "tests/graph/reference_graphs.h"

namespace gv {
namespace {

/// Compares sums that distinguish spectra: counts, both first moments, and a resolvent.
void expect_same_modes(const Modes& a, const Modes& b, double tolerance) {
  using F = std::function<double(const Mode&)>;
  for (const F& f :
       {F([](const Mode&) { return 1.0; }), F([](const Mode& m) { return m.values[0].real(); }),
        F([](const Mode& m) { return std::norm(m.values[0]); }),
        F([](const Mode& m) { return 1 / std::norm(m.values[0] - 1.2); }),
        F([](const Mode& m) { return 1 / std::norm(m.values[0] + 1.1); })}) {
    const double value = b.sum(f).value;
    EXPECT_NEAR(a.sum(f).value, value, tolerance * std::max(1.0, std::abs(value)));
  }
}

TEST(Modes, ClosedFormsAgreeWithTheDenseSolver) {
  for_each_closed_form([](const TopologySpec& spec, PeerId n, const char* weights) {
    const std::optional<Modes> closed = closed_form_modes(spec, n, weights);
    if (!closed) return;
    SCOPED_TRACE(to_string(spec) + " " + std::to_string(n) + " " + weights);
    expect_same_modes(*closed, dense_modes(mixing_matrix(weights, build(spec, n))), 1e-11);
  });
}

TEST(Modes, StochasticTraceIsWithinItsErrorBar) {
  for (const char* family : {"random-regular:degree=4,seed=2", "small-world:k=4,beta=0.3,seed=1"}) {
    const MixingMatrix w = metropolis(build(parse_topology(family), 1000));
    const Estimate exact = s1_lian(dense_modes(w));
    const Estimate estimate = s1_lian(stochastic_modes(w, 8, 200));
    EXPECT_EQ(exact.error, 0);
    EXPECT_GT(estimate.error, 0);
    EXPECT_LT(estimate.error, 0.05 * exact.value) << family;
    EXPECT_NEAR(estimate.value, exact.value, 4 * estimate.error) << family;
  }
}

/// A sparse factor gives S1 exactly: checked with all eigenvalues, or with closed forms.
TEST(SelectedInverse, GivesSlowGraphsTheirS1) {
  for (const char* text : {"ring", "path", "grid:20x25", "small-world:k=4,beta=0.05", "star"}) {
    SCOPED_TRACE(text);
    const MixingMatrix w = metropolis(build(parse_topology(text), 500));
    const Estimate s1 = selected_s1(SparseRows(w)).value();
    EXPECT_NEAR(s1.value / s1_lian(dense_modes(w)).value, 1, 1e-8);
  }
  for (const char* text : {"path", "ring"}) {
    const MixingMatrix w = metropolis(build(parse_topology(text), 20'000));
    const double closed = s1_lian(family_modes(text, 20'000)).value;
    EXPECT_NEAR(selected_s1(SparseRows(w))->value / closed, 1, 1e-7) << text;
    EXPECT_FALSE(selected_s1(SparseRows(w), 10)) << "too much work";
  }
  const MixingMatrix islands = metropolis(make_topology("islands", 4, {{0, 1}, {2, 3}}));
  EXPECT_FALSE(selected_s1(SparseRows(islands)));
}

/// Too many peers for all eigenvalues: compared with the closed form, which is not used.
TEST(Modes, AreEstimatedBeyond4096Peers) {
  const MixingMatrix torus = metropolis(family("torus:70x70", 4900));
  const Modes modes = modes_of(torus);
  EXPECT_EQ(modes.method, "stochastic trace");
  const Estimate estimate = s1_lian(modes);
  const double exact = s1_lian(family_modes("torus:70x70", 4900)).value;
  EXPECT_GT(estimate.error, 0);
  EXPECT_NEAR(estimate.value, exact, 4 * estimate.error);
  EXPECT_LT(estimate.error, 0.05 * exact);
}

/// A path's S1 is about n / 4: 100 steps cannot resolve its slow modes, and the error shows it.
TEST(Modes, StochasticTraceKnowsWhatItDoesNotResolve) {
  const MixingMatrix w = metropolis(build(parse_topology("path"), 5000));
  const Estimate estimate = s1_lian(stochastic_modes(w, 3, 100));
  EXPECT_GT(estimate.error, 0.2 * estimate.value);
}

TEST(Modes, RefuseADirectedMatrixThatIsNotNormal) {
  const std::vector<Neighborhood> rows{
      {0.5, {1}, {0.5}, {}}, {0.25, {0, 2}, {0.25, 0.5}, {}}, {0.5, {0, 1}, {0.25, 0.25}, {}}};
  EXPECT_THROW(dense_modes(MixingMatrix(rows, true)), std::invalid_argument);
}

TEST(PredictMixing, S1OfWhatDoesNotMixIsInfinite) {
  const MixingMatrix islands = metropolis(make_topology("islands", 4, {{0, 1}, {2, 3}}));
  EXPECT_TRUE(std::isinf(s1_lian(dense_modes(islands)).value));
}

TEST(PredictMixing, EffectiveNeighborsAreAMillionPeersToo) {
  const Modes modes = family_modes("ring", 1'000'000);
  EXPECT_EQ(modes.method, "closed form");
  // For an infinite ring: the resolvent's integral over the circle, from 4096 points.
  EXPECT_NEAR(effective_neighbors(modes, 0.9).value /
                  effective_neighbors(family_modes("ring", 4096), 0.9).value,
              1, 1e-9);
}

TEST(PredictMixing, DisagreementFollowsThePowersOfW) {
  const MixingMatrix w = metropolis(build(parse_topology("grid:3x4"), 12));
  const Modes modes = dense_modes(w);
  double sum = 0;
  for (PeerId j = 0; j < 12; ++j) {
    std::vector<double> x(12, -1.0 / 12);
    x[j] += 1;
    std::vector<double> y(12);
    for (int round = 0; round < 5; ++round) {
      w.apply(x.data(), y.data());
      x.swap(y);
    }
    for (const double v : x) sum += v * v / 12;
  }
  EXPECT_NEAR(disagreement_after(modes, 5).value, sum, 1e-13);
  EXPECT_NEAR(disagreement_after(modes_of_schedule("one-peer-exponential", 16), 4).value, 0, 1e-30);
  EXPECT_EQ(std::ceil(rounds_to(0.4, 1e-3)), 14);
  EXPECT_EQ(rounds_to(1, 1e-3), 1);
}

/// Section 3.4, by brute force there: conductances and mixing times of five graphs.
TEST(PredictMixing, BoundsHoldForTheKnownConductances) {
  struct Known {
    const char* family;
    PeerId n;
    double conductance, mixing_time;
  };
  for (const Known& known : {Known{"ring", 12, 1.0 / 9, 10}, Known{"star", 12, 1.0 / 12, 15},
                             Known{"path", 12, 1.0 / 18, 41}, Known{"grid:3x4", 12, 7.0 / 60, 7},
                             Known{"hypercube", 8, 0.25, 2}}) {
    const Spectrum s = dense_spectrum(metropolis(build(parse_topology(known.family), known.n)));
    const MixingBounds b = mixing_bounds(known.n, *s.lambda2, s.gap);
    EXPECT_LE(b.cheeger_low, known.conductance + 1e-12) << known.family;
    EXPECT_GE(b.cheeger_high, known.conductance) << known.family;
    EXPECT_LE(b.mixing_low, known.mixing_time) << known.family;
    EXPECT_GE(b.mixing_high, known.mixing_time) << known.family;
  }
}

QuadraticFleet sheet_fleet(const char* order) {
  return {.hessian = {1, 0.5, 0.25, 0.1}, .rate = 0.1, .order = order};
}

/// Section 4.2's validation table, identical data on all peers.
TEST(Predict, TheSheetsTable) {
  struct Row {
    const char* family;
    const char* order;
    double consensus, local;
  };
  for (const Row& row :
       {Row{"ring", "lian", 0.07348, 0.02163}, Row{"ring", "atc", 0.03968, 0.01408},
        Row{"torus", "lian", 0.04486, 0.01671}, Row{"torus", "atc", 0.00774, 0.00815},
        Row{"hypercube", "lian", 0.04486, 0.01671}, Row{"complete", "lian", 0.03762, 0.01513},
        Row{"complete", "atc", 0, 0.00640}, Row{"star", "lian", 0.18792, 0.04160},
        Row{"star", "atc", 0.16613, 0.03766}, Row{"path", "lian", 0.09269, 0.02410},
        Row{"path", "atc", 0.06014, 0.01686}, Row{"grid:4x4", "lian", 0.05426, 0.01841},
        Row{"grid:4x4", "atc", 0.01889, 0.01043}, Row{"exponential", "lian", 0.04398, 0.01649},
        Row{"exponential", "atc", 0.00705, 0.00801}}) {
    const Stationary s = predict(family_modes(row.family, 16), sheet_fleet(row.order)).value();
    EXPECT_NEAR(s.consensus.value, row.consensus, 6e-6) << row.family << " " << row.order;
    EXPECT_NEAR(s.excess_local.value, row.local, 6e-6) << row.family << " " << row.order;
    EXPECT_NEAR(s.excess_mean.value, 0.00640, 6e-6);
  }
}

/// Section 4.6: consensus distance and E mean(x)^2 of the variants; ring of 16, h = 1.
TEST(Predict, TheSheetsVariants) {
  const auto expect = [](const std::optional<Stationary>& s, double consensus, double mean) {
    ASSERT_TRUE(s.has_value());
    EXPECT_NEAR(s->consensus.value, consensus, 6e-7);
    EXPECT_NEAR(2 * s->excess_mean.value, mean, 6e-7);
  };
  const Modes ring = family_modes("ring", 16);
  const Modes lazy_ring = family_modes("ring", 16, "lazy");
  const double sgd = 0.01 / 0.19 / 16;
  expect(predict(ring, {.rate = 0.05, .momentum = 0.9, .order = "lian"}), 0.037220, 0.015833);
  expect(predict(ring, {.rate = 0.05, .momentum = 0.9, .order = "atc"}), 0.027080, 0.015833);
  expect(predict(ring, {.staleness = 1, .self_weight = 1.0 / 3, .order = "lian"}), 0.014231,
         0.002206);
  expect(predict(lazy_ring, {.order = "d2"}), 0.012187, sgd);
  expect(predict(ring, {.order = "gradient-tracking"}), 0.005895, sgd);
  expect(predict(ring, {.local_steps = 5, .order = "atc"}), 0.012105, sgd);
  expect(predict(modes_of_schedule("one-peer-exponential", 16), {.order = "atc"}), 0.006304, sgd);
  expect(predict(modes_of_schedule("random-matching", 16), {.order = "atc"}), 0.007034, sgd);
}

TEST(Predict, AtcIsEffectiveNeighbors) {
  const Modes modes = family_modes("grid:5x5", 25);
  const QuadraticFleet fleet{.hessian = {0.7}, .rate = 0.2, .order = "atc"};
  const double alone = 0.7 / 2 * 0.04 / (1 - 0.86 * 0.86);
  EXPECT_NEAR(predict(modes, fleet)->excess_local.value *
                  effective_neighbors(modes, 0.86 * 0.86).value / alone,
              1, 1e-12);
}

TEST(Predict, StabilityLimits) {
  const auto limit = [](const Modes& modes, const QuadraticFleet& fleet) {
    return stable_rates(modes, fleet).limit();
  };
  const Modes ring = family_modes("ring", 16);
  EXPECT_NEAR(limit(ring, {.hessian = {2, 0.5}, .order = "lian"}), 2.0 / 3 / 2, 1e-12);
  EXPECT_NEAR(limit(ring, {.hessian = {2, 0.5}, .order = "atc"}), 1, 1e-12);
  // |trace| < 1 + det for lambda = -1/3; without that mode the limit is 2 (1 + momentum).
  EXPECT_NEAR(limit(ring, {.momentum = 0.5, .order = "cta"}), 2, 1e-12);
  EXPECT_NEAR(limit(family_modes("complete", 16), {.momentum = 0.5, .order = "cta"}), 3, 1e-12);
  // The limit by |lambda (lambda - gamma h)| < 1, and that of the mean.
  const Modes torus = family_modes("torus:4x4", 16);
  EXPECT_NEAR(limit(ring, {.order = "gradient-tracking"}), 2, 1e-12);
  EXPECT_NEAR(limit(torus, {.order = "gradient-tracking"}), (1 - 0.36) / 0.6, 1e-12);
  EXPECT_FALSE(predict(ring, {.rate = 0.667, .order = "lian"}));
  EXPECT_TRUE(predict(ring, {.rate = 0.666, .order = "lian"}));
}

/// D2 was once reported stable from 0 on, at rates at which it grows by half per round.
TEST(Predict, D2IsStableBetweenTwoRates) {
  const Modes torus = family_modes("torus:4x4", 16);  // lambda_n = -0.6
  const RateWindow one = stable_rates(torus, {.hessian = {1}, .order = "d2"}).windows.at(0);
  EXPECT_NEAR(one.low, (3 - 1 / 0.6) / 2, 1e-12);
  EXPECT_NEAR(one.high, 2, 1e-12);
  EXPECT_FALSE(predict(torus, {.rate = 0.66, .order = "d2"}));
  EXPECT_TRUE(predict(torus, {.rate = 0.68, .order = "d2"}));
  EXPECT_TRUE(predict(torus, {.rate = 1.99, .order = "d2"}));
  EXPECT_FALSE(predict(torus, {.rate = 2.01, .order = "d2"}));
  // The flattest axis determines the beginning, the steepest the end.
  const RateWindow two = stable_rates(torus, {.hessian = {2, 1}, .order = "d2"}).windows.at(0);
  EXPECT_NEAR(two.low, one.low, 1e-12);
  EXPECT_NEAR(two.high, 1, 1e-12);
  EXPECT_TRUE(stable_rates(torus, {.hessian = {1, 0.1}, .order = "d2"}).windows.empty());
  const Modes ring = family_modes("ring", 16, "lazy");
  EXPECT_EQ(stable_rates(ring, {.order = "d2"}).windows.at(0).low, 0);
}

/// (1 + lambda)^2 / (2 lambda^2), by Jury's test of x <- lambda (x - gamma y), y <- lambda (y + h
/// (next x - x)).
TEST(Predict, AugDgmPaysForEigenvaluesBelowZero) {
  EXPECT_NEAR(stable_rates(family_modes("torus:4x4", 16), {.order = "aug-dgm"}).limit(), 2.0 / 9,
              1e-9);
  EXPECT_NEAR(
      stable_rates(family_modes("torus:4x4", 16), {.hessian = {4}, .order = "aug-dgm"}).limit(),
      0.5 / 9, 1e-9);
  EXPECT_NEAR(stable_rates(family_modes("torus:4x4", 16, "lazy"), {.order = "aug-dgm"}).limit(), 2,
              1e-9);
}

/// A mode of EXTRA is stable below (5 + 3 lambda) / 4 (Li & Yan 2021), and one of NIDS below 2.
TEST(Predict, ExtraAndNidsAreStableUpToTheirTheory) {
  for (const auto& [graph, least] : {std::pair{"ring", -1.0 / 3}, {"torus:4x4", -0.6}}) {
    const Modes modes = family_modes(graph, 16);
    EXPECT_NEAR(stable_rates(modes, {.order = "extra"}).limit(), (5 + 3 * least) / 4, 1e-9)
        << graph;
    EXPECT_NEAR(stable_rates(modes, {.hessian = {4}, .order = "nids"}).limit(), 0.5, 1e-9) << graph;
    EXPECT_EQ(stable_rates(modes, {.order = "nids"}).windows.at(0).low, 0);
  }
}

/// Both methods were once scored on graphs that they do not allow.
TEST(Predict, CorrectedMethodsNeedAnUndirectedGraph) {
  for (const char* order : {"d2", "extra", "nids", "led", "gradient-tracking", "aug-dgm",
                            "momentum-tracking", "k-gt"}) {
    EXPECT_THROW(predict(family_modes("exponential", 16), {.order = order}), std::invalid_argument);
    EXPECT_THROW(predict(modes_of_schedule("one-peer-exponential", 8), {.order = order}),
                 std::invalid_argument);
  }
}

/// Section 5.3: Lian's order on a ring of 4 comes to rest at (I - W + gamma I)^-1 gamma b. Drawn
/// centres agree with the expectation on average over a basis.
TEST(Predict, GivenCenters) {
  const MixingMatrix ring = metropolis(build(parse_topology("ring"), 4));
  const Modes modes = dense_modes(ring);
  const QuadraticFleet silent{.noise = 0, .rate = 0.1, .order = "lian"};
  const Stationary s = predict_centers(ring, modes, silent, {{0}, {1}, {0}, {-1}}).value();
  EXPECT_NEAR(s.consensus.value, 2 * 0.130434782609 * 0.130434782609 / 4, 1e-12);
  EXPECT_THROW(predict_centers(ring, modes, silent, {{0}, {1}, {0}}), std::invalid_argument);
  for (const std::string order : {"lian", "atc", "cta", "d2", "gradient-tracking", "aug-dgm",
                                  "momentum-tracking", "extra", "nids"}) {
    QuadraticFleet fleet{.noise = 0, .spread = 1, .rate = 0.05, .order = order};
    if (order == "atc") fleet.momentum = 0.3;
    if (order == "cta") fleet.local_steps = 3;
    const MixingMatrix w = lazy(build(parse_topology("star"), 5));
    const Modes lazy_modes = dense_modes(w);
    double consensus = 0;
    for (std::size_t i = 0; i < 5; ++i) {
      std::vector<std::vector<double>> centers(5, {3.0});
      centers[i] = {4.0};
      consensus += predict_centers(w, lazy_modes, fleet, centers)->consensus.value;
    }
    EXPECT_NEAR(predict(lazy_modes, fleet)->consensus.value, consensus, 1e-10) << order;
  }
}

TEST(Predict, RefusesWhatHasNoTheory) {
  const Modes ring = family_modes("ring", 4);
  for (const QuadraticFleet& fleet :
       {QuadraticFleet{.order = "nail"}, QuadraticFleet{.hessian = {1, 0}},
        QuadraticFleet{.rate = 0}, QuadraticFleet{.momentum = 1},
        QuadraticFleet{.momentum = 0.9, .order = "d2"},
        QuadraticFleet{.staleness = 1, .order = "atc"}, QuadraticFleet{.local_steps = 0}})
    EXPECT_THROW(predict(ring, fleet), std::invalid_argument);
}

}  // namespace
}  // namespace gv
