#include <cmath>

#include <gtest/gtest.h>

#include "graph/mixing/mixing.h"
#include "graph/predict/quadratic.h"
#include "graph/predict/transient.h"
#include "graph/topologies.h"

namespace gv {
namespace {

Modes modes_of_ring(PeerId n) {
  const TopologySpec spec = parse_topology("ring");
  return modes_of(metropolis(build(spec, n)), &spec);
}

TEST(PredictTransient, EndsWherePredictSays) {
  const Modes modes = modes_of_ring(16);
  for (const char* order : {"lian", "atc", "cta"}) {
    SCOPED_TRACE(order);
    const QuadraticFleet fleet{
        .hessian = {1, 0.5, 0.1}, .noise = 0.7, .spread = 0.4, .rate = 0.1, .order = order};
    const Stationary end = predict(modes, fleet).value();
    const Stationary late = predict_after(modes, fleet, 3, 5000);
    EXPECT_NEAR(late.consensus.value, end.consensus.value, 1e-12);
    EXPECT_NEAR(late.excess_mean.value, end.excess_mean.value, 1e-12);
    EXPECT_NEAR(late.excess_local.value, end.excess_local.value, 1e-12);
  }
}

/// Two peers that average completely: the modes are 1 and 0.
TEST(PredictTransient, TwoPeersByHand) {
  const TopologySpec spec = parse_topology("complete");
  const Modes modes = modes_of(metropolis(build(spec, 2)), &spec);
  const QuadraticFleet fleet{.hessian = {2}, .noise = 3, .spread = 0, .rate = 0.1};
  const Stationary start = predict_after(modes, fleet, 5, 0);
  EXPECT_NEAR(start.excess_mean.value, 0.5 * 2 * 25, 1e-12);
  EXPECT_NEAR(start.consensus.value, 0, 1e-15);
  const Stationary next = predict_after(modes, fleet, 5, 1);
  EXPECT_NEAR(next.consensus.value, 0.01 * 3 / 2, 1e-15);  // one of two modes
  EXPECT_NEAR(next.excess_mean.value, 0.5 * 2 * (0.64 * 25 + 0.01 * 3 / 2), 1e-12);
}

/// A step beyond the start: the disagreement of the centres alone, gamma^2 h^2 spread per mode.
TEST(PredictTransient, CentresPullApart) {
  const QuadraticFleet fleet{.hessian = {1}, .noise = 0, .spread = 2, .rate = 0.1};
  const Stationary next = predict_after(modes_of_ring(8), fleet, 0, 1);
  EXPECT_NEAR(next.consensus.value, 0.01 * 2 * 7 / 8, 1e-14);
}

/// Known centres: the vectors of section 5.3, a ring of 4, three rounds without noise.
TEST(PredictTransient, KnownCentresGoTheirWay) {
  const TopologySpec spec = parse_topology("ring");
  const MixingMatrix w = metropolis(build(spec, 4));
  const Modes modes = modes_of(w, &spec);
  QuadraticFleet fleet{.hessian = {1}, .noise = 0, .rate = 0.1};
  const std::vector<std::vector<double>> b{{0}, {1}, {0}, {-1}};
  for (const char* order : {"lian", "atc", "cta"}) {
    SCOPED_TRACE(order);
    fleet.order = order;
    fleet.noise = 0;
    const Stationary late = predict_after(w, modes, fleet, b, 2, 2000);
    const Stationary end = predict_centers(w, modes, fleet, b).value();
    EXPECT_NEAR(late.consensus.value, end.consensus.value, 1e-12);
    EXPECT_NEAR(late.excess_local.value, end.excess_local.value, 1e-12);
    EXPECT_NEAR(late.excess_mean.value, 0, 1e-12);
    fleet.noise = 1;
    const Stationary noisy = predict_after(w, modes, fleet, b, 2, 30);
    const Stationary alone = predict_after(w, modes, fleet, {{0}, {0}, {0}, {0}}, 0, 30);
    fleet.noise = 0;
    const Stationary pulled = predict_after(w, modes, fleet, b, 2, 30);
    EXPECT_NEAR(noisy.excess_local.value, alone.excess_local.value + pulled.excess_local.value,
                1e-12);
  }
  EXPECT_THROW(predict_after(w, modes, fleet, {{0}}, 0, 1), std::invalid_argument);
}

TEST(PredictTransient, RefusesWhatItHasNoTheoryFor) {
  const QuadraticFleet fleet{.momentum = 0.9};
  EXPECT_FALSE(has_transient(fleet));
  EXPECT_THROW(predict_after(modes_of_ring(4), fleet, 0, 1), std::invalid_argument);
}

TEST(PredictTransient, FindsTheFirstRound) {
  const auto falls = [](std::uint64_t t) { return std::pow(0.99, static_cast<double>(t)); };
  EXPECT_EQ(first_at_most(falls, 1, 1000), 0U);
  EXPECT_EQ(first_at_most(falls, 0.99, 1000), 1U);
  EXPECT_EQ(first_at_most(falls, 1e-3, 100'000), 688U);  // ln 1000 / -ln 0.99 = 687.3
  EXPECT_EQ(first_at_most(falls, 0, 100), std::nullopt);
}

}  // namespace
}  // namespace gv
