#include "graph/schedule/schedule_rate.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include <gtest/gtest.h>

#include "graph/schedules.h"
#include "graph/spectrum/spectrum.h"
#include "graph/topologies.h"
#include "graph/weights.h"

namespace gv {
namespace {

ScheduleRate rate(const std::string& text, PeerId n) {
  return schedule_rate(*make_schedule(parse_schedule(text), n));
}

TEST(ScheduleRate, OfAStaticTopologyIsItsSlem) {
  for (const char* text : {"ring", "torus:4x4", "exponential"}) {
    const double slem = dense_spectrum(metropolis(build(parse_topology(text), 16))).slem;
    EXPECT_NEAR(rate(text, 16).per_round, slem, 1e-10) << text;
  }
}

/// The factors are circulants, so the product's singular values are prod_t |cos(pi m 2^t / n)|,
/// which telescopes. Zero for every m exactly when n is a power of two (Ying et al. 2021).
double one_peer_product(PeerId n, std::uint64_t period) {
  const double angle = std::numbers::pi / n;
  const double most = std::pow(2.0, static_cast<double>(period));
  double largest = 0;
  for (PeerId m = 1; m < n; ++m)
    largest =
        std::max(largest, std::abs(std::sin(m * most * angle) / (most * std::sin(m * angle))));
  return largest;
}

TEST(ScheduleRate, OfTheOnePeerExponentialGraph) {
  for (const PeerId n : {2U, 4U, 8U, 32U, 64U, 1024U})
    EXPECT_EQ(rate("one-peer-exponential", n).product, 0) << n;
  for (const PeerId n : {3U, 5U, 6U, 7U, 12U, 25U, 33U, 1001U}) {
    const ScheduleRate r = rate("one-peer-exponential", n);
    EXPECT_NEAR(r.product, one_peer_product(n, r.period), 1e-9) << n;
  }
  EXPECT_EQ(rate("one-peer-exponential", 8).rounds_to(1e-3), 3);
}

TEST(ScheduleRate, BaseGraphsAverageExactlyInAPeriod) {
  for (PeerId k = 1; k <= 4; ++k) {
    for (PeerId n = 1; n <= 40; ++n) {
      const ScheduleRate r = rate("base:k=" + std::to_string(k), n);
      EXPECT_EQ(r.product, 0) << n << ", k = " << k;
      EXPECT_EQ(r.rounds_to(1e-3), static_cast<double>(r.period));
    }
  }
}

/// Too many peers for the dense product.
TEST(ScheduleRate, OfALargePeriodicSchedule) {
  EXPECT_EQ(rate("base:k=1", 1000).product, 0);
}

/// Compares the estimate with exact values, within four standard errors.
TEST(ScheduleRate, EstimatesTheContractionOfRandomSchedules) {
  for (const char* text : {"random-matching:seed=1", "od-equi-dyn:eta=0.5,seed=5",
                           "od-equi-dyn:eta=1,m=4,seed=5", "matcha:budget=0.5,seed=2,graph=torus",
                           "matcha:budget=0.3,seed=2,graph=erdos-renyi:p=0.5,seed=1"}) {
    for (const PeerId n : {9U, 16U}) {
      const auto s = make_schedule(parse_schedule(text), n);
      const ScheduleRate r = estimated_rate(*s, 4000);
      SCOPED_TRACE(std::string(text) + " on " + std::to_string(n));
      EXPECT_NEAR(r.kappa, s->contraction().value(), 4 * r.kappa_error + 0.01);
      EXPECT_LT(r.kappa_error, 0.02);
    }
  }
}

/// Beyond 64 peers MATCHA's contraction comes from Lanczos, which gives an error estimate.
TEST(ScheduleRate, OfALargeMatchaHasItsError) {
  const ScheduleRate small = rate("matcha:graph=ring", 16);
  EXPECT_EQ(small.kappa_error, 0);
  EXPECT_EQ(small.method, "exact");
  const ScheduleRate large = rate("matcha:graph=ring", 100);
  EXPECT_EQ(large.method, "lanczos");
  EXPECT_GT(large.kappa_error, 0);
  EXPECT_LT(large.kappa_error, 1e-3 * (1 - large.kappa));
}

TEST(ScheduleRate, KnowsTheClosedForms) {
  for (const double n : {4.0, 10.0, 33.0}) {
    const auto peers = static_cast<PeerId>(n);
    EXPECT_NEAR(rate("od-equi-dyn:eta=0.5", peers).kappa, (n - 1) / (2 * n), 1e-12);
    EXPECT_NEAR(rate("od-equi-dyn:eta=1", peers).kappa, 1 - 2 / n, 1e-12);
  }
  EXPECT_NEAR(rate("random-matching", 16).kappa, 14.0 / 30, 1e-12);
  EXPECT_NEAR(rate("random-matching", 15).kappa, 0.5, 1e-12);
}

/// OU-EquiDyn has no closed form; its rate does not depend on n (Song et al. 2022).
TEST(ScheduleRate, OfUndirectedEquiDynDoesNotDependOnTheSize) {
  for (const PeerId n : {8U, 16U, 32U, 33U}) {
    const ScheduleRate r = rate("ou-equi-dyn:eta=0.5,seed=1", n);
    EXPECT_GT(r.kappa, 0.3) << n;
    EXPECT_LT(r.kappa, 0.75) << n;
  }
}

/// EquiStatic: with enough shifts the second singular value is small for every n.
TEST(EquiStatic, ContractsAtARateWithoutTheSize) {
  for (const char* text : {"d-equi-static:m=30,seed=1", "u-equi-static:m=30,seed=1"}) {
    for (const PeerId n : {16U, 64U, 300U}) {
      const Topology t = build(parse_topology(text), n);
      EXPECT_LT(dense_spectrum(mixing_matrix("edge-list", t)).slem, 0.6) << t.name << " " << n;
    }
  }
}

}  // namespace
}  // namespace gv
