#include <gtest/gtest.h>

#include "graph/predict/rates/stable_rates.h"
#include "graph/predict/sequence.h"
#include "graph/schedules.h"
#include "graph/spectrum/spectrum.h"
#include "graph/topologies.h"
#include "tests/graph/reference_graphs.h"

namespace gv {
namespace {

std::optional<double> limit(const char* text, PeerId n, const QuadraticFleet& fleet) {
  const auto rates = schedule_stable_rates(*make_schedule(parse_schedule(text), n), fleet);
  return rates ? std::optional(rates->limit()) : std::nullopt;
}

/// One W, and a period whose matrices share their modes.
TEST(ScheduleStability, IsThatOfTheModes) {
  const QuadraticFleet fleet{.hessian = {0.5, 2}};
  for (const char* text : {"ring", "torus:3x4", "star", "exponential"}) {
    const Modes modes = modes_of(metropolis(build(parse_topology(text), 12)));
    const double exact = stable_rates(modes, fleet).limit();
    EXPECT_NEAR(limit(text, 12, fleet).value() / exact, 1, 2e-3) << text;
  }
  for (const PeerId n : {5U, 8U, 12U, 33U}) {
    const double exact = stable_rates(modes_of_schedule("one-peer-exponential", n), fleet).limit();
    EXPECT_NEAR(limit("one-peer-exponential", n, fleet).value() / exact, 1, 5e-3) << n;
  }
}

/// The rates that a sequence almost surely survives reach at least as far as in the mean square.
TEST(ScheduleStability, OfRandomSequencesIsNotBelowTheMeanSquares) {
  const QuadraticFleet fleet{.hessian = {1}};
  for (const char* text : {"random-matching", "od-equi-dyn:eta=0.5", "od-equi-dyn:eta=0.9,m=3"}) {
    for (const PeerId n : {6U, 8U, 16U}) {
      SCOPED_TRACE(testing::Message() << text << " " << n);
      const double exact = stable_rates(*schedule_modes(parse_schedule(text), n), fleet).limit();
      const double found = limit(text, n, fleet).value();
      EXPECT_GE(found, exact * 0.98);
      EXPECT_LE(found, 2);
    }
  }
}

/// Base-(k+1): a rate at which no single round grows is sufficient.
TEST(ScheduleStability, OfAPeriodIsNotBelowThatOfItsWorstRound) {
  for (const char* text : {"base:k=1", "base:k=2", "base:k=3"}) {
    for (const PeerId n : {6U, 11U, 25U}) {
      const auto schedule = make_schedule(parse_schedule(text), n);
      double worst = 2;
      for (std::uint64_t t = 0; t < schedule->period(); ++t)
        worst = std::min(worst, 1 + *dense_spectrum(schedule->matrix(t)).lambda_n);
      EXPECT_GE(limit(text, n, {.hessian = {4}}).value(), worst / 4 * 0.998) << text << " " << n;
    }
  }
}

/// Tries both sides of the limit, by the covariance of the same sequence. The covariance of a
/// random one is also bounded below the limit, but has rare bursts that look like growth.
TEST(ScheduleStability, SeparatesFleetsThatSettleFromThoseThatGrow) {
  for (const char* text :
       {"base:k=1", "base:k=2", "ou-equi-dyn:eta=0.9,seed=2", "matcha:budget=0.4,graph=torus:3x4",
        "matcha:budget=0.5,graph=grid:3x4"}) {
    for (const char* order : {"lian", "atc", "cta"}) {
      SCOPED_TRACE(testing::Message() << text << " " << order);
      const auto schedule = make_schedule(parse_schedule(text), 12);
      QuadraticFleet fleet{.hessian = {1, 0.3}, .order = order};
      const double most = schedule_stable_rates(*schedule, fleet).value().limit();
      fleet.rate = (schedule->period() > 0 ? 0.98 : 0.6) * most;
      EXPECT_TRUE(settled_sequence(*schedule, fleet)) << most;
      fleet.rate = 1.1 * most;
      EXPECT_FALSE(settled_sequence(*schedule, fleet)) << most;
    }
  }
}

/// Orders that average last are limited by the step alone.
TEST(ScheduleStability, OfTheOtherOrdersIsTheStepsOwn) {
  EXPECT_EQ(limit("base:k=1", 6, {.hessian = {4}, .order = "atc"}), 0.5);
  EXPECT_EQ(limit("ou-equi-dyn", 6, {.hessian = {4}, .order = "cta"}), 0.5);
  EXPECT_FALSE(limit("base:k=1", 6, {.momentum = 0.9}));
  EXPECT_FALSE(limit("base:k=1", 6, {.local_steps = 2}));
  EXPECT_FALSE(limit("base:k=1", 6, {.order = "d2"}));
}

}  // namespace
}  // namespace gv
