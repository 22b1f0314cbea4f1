#include "peer/study/predict/forecast/expectation.h"

#include <algorithm>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "graph/schedules.h"
#include "peer/record/report/metrics.h"
#include "peer/sim/simulation.h"
#include "peer/study/predict/forecast/forecast.h"
#include "peer/study/predict/forecast/mixing_law.h"
#include "tests/peer/fleet/test_fleet.h"

namespace gv {
namespace {

Fleet expected_fleet(const char* order, std::uint32_t dimension, std::uint64_t rounds) {
  Fleet fleet = quadratic_fleet(8, "ring", "d-psgd", order);
  fleet.data.quadratic.dimension = dimension;
  fleet.data.quadratic.hessian = {1, 0.25};
  fleet.data.quadratic.spread = 1;
  fleet.data.quadratic.start = 2;
  fleet.optimizer.lr = 0.1;
  fleet.stop.rounds = rounds;
  return fleet;
}

FleetRecord simulated(const Assembly& assembly) {
  Observer observer(assembly.fleet.size(), assembly.evaluator(), [](const FleetRecord&) {});
  simulate(assembly, observer, {});
  return observer.summary().value();
}

/// Expects all three figures within their relative tolerances.
void expect_near(const FleetRecord& record,
                 const Stationary& expected,
                 double tolerance,
                 double tolerance_of_mean) {
  EXPECT_NEAR(record.consensus / expected.consensus.value, 1, tolerance);
  EXPECT_NEAR(record.mean.loss / expected.excess_mean.value, 1, tolerance_of_mean);
  EXPECT_NEAR(record.loss_local / expected.excess_local.value, 1, tolerance);
}

/// Early and late rounds. With the fleet's own minima only the noise varies.
TEST(Expectation, IsWhatARunMeasures) {
  for (const char* order : {"lian", "atc", "cta"}) {
    for (const std::uint64_t rounds : {5U, 200U}) {
      SCOPED_TRACE(std::string(order) + " " + std::to_string(rounds));
      const Assembly assembly(expected_fleet(order, 2000, rounds));
      const FleetRecord record = simulated(assembly);
      expect_near(record, expectation(assembly, record).value(), 0.05, 0.1);
    }
  }
}

/// Nothing is random without noise.
TEST(Expectation, FollowsTheFleetsOwnMinima) {
  Fleet fleet = expected_fleet("lian", 3, 17);
  fleet.data.quadratic.noise = 0;
  const Assembly assembly(std::move(fleet));
  const FleetRecord record = simulated(assembly);
  expect_near(record, expectation(assembly, record).value(), 1e-5, 1e-5);
}

/// With momentum or local steps the expectation was once that of a drawn fleet, up to twice as
/// large.
TEST(Expectation, OfMomentumAndLocalStepsFollowsTheFleetsOwnMinima) {
  for (const char* order : {"lian", "atc", "cta"}) {
    for (const std::uint32_t steps : {1U, 4U}) {
      SCOPED_TRACE(std::string(order) + " " + std::to_string(steps));
      Fleet fleet = expected_fleet(order, 3, 600);
      fleet.data.quadratic.noise = 0;
      fleet.optimizer.lr = 0.02;
      fleet.optimizer.momentum = 0.9;
      fleet.local_steps = steps;
      const Assembly assembly(std::move(fleet));
      const FleetRecord record = simulated(assembly);
      const Stationary expected = expectation(assembly, record).value();
      EXPECT_NEAR(record.consensus / expected.consensus.value, 1, 1e-3);
      EXPECT_NEAR(record.loss_local / expected.excess_local.value, 1, 1e-3);
    }
  }
}

/// Schedules with random draws, compared round by round with the runtime.
TEST(Expectation, FollowsASchedule) {
  for (const char* schedule :
       {"one-peer-exponential", "random-matching:seed=5", "base:k=1", "od-equi-dyn:eta=0.5",
        "ou-equi-dyn:eta=0.7", "matcha:budget=0.5,graph=ring"}) {
    for (const char* order : {"lian", "atc", "cta"}) {
      SCOPED_TRACE(std::string(schedule) + " " + order);
      Fleet fleet = expected_fleet(order, 3, 17);
      fleet.schedule = parse_schedule(schedule);
      fleet.data.quadratic.noise = 0;
      fleet.optimizer.momentum = 0.5;
      fleet.local_steps = 2;
      const Assembly assembly(std::move(fleet));
      const FleetRecord record = simulated(assembly);
      expect_near(record, expectation(assembly, record).value(), 1e-4, 1e-4);
    }
  }
}

TEST(Expectation, OfAScheduleKnowsTheNoise) {
  for (const char* schedule : {"one-peer-exponential", "random-matching", "base:k=2"}) {
    SCOPED_TRACE(schedule);
    Fleet fleet = expected_fleet("lian", 2000, 60);
    fleet.schedule = parse_schedule(schedule);
    const Assembly assembly(std::move(fleet));
    const FleetRecord record = simulated(assembly);
    expect_near(record, expectation(assembly, record).value(), 0.05, 0.1);
  }
}

Fleet regression_fleet(
    PeerId n, const char* graph, const char* order, std::uint32_t samples, std::uint32_t batch) {
  Fleet fleet = quadratic_fleet(n, graph, "d-psgd", order);
  fleet.data.kind = fleet.model.kind = "linear";
  fleet.data.train = samples;
  fleet.data.test = 5000;
  fleet.data.features = 8;
  fleet.data.noise = 0.7;
  fleet.optimizer.lr = 0.05;
  for (PeerSpec& peer : fleet.peers) peer.batch = batch;
  return fleet;
}

/// Linear regression on fresh samples: the noise of a gradient grows with the error. Mean over the
/// late rounds of one run: 258 records of 16 peers and 9 coordinates.
TEST(Expectation, KnowsLinearRegression) {
  for (const char* graph : {"ring", "one-peer-exponential", "random-matching"}) {
    for (const char* order : {"lian", "atc"}) {
      SCOPED_TRACE(std::string(graph) + " " + order);
      Fleet fleet = regression_fleet(16, graph, order, 32'000, 1);
      fleet.stop.rounds = 2000;
      fleet.evaluate_every = 7;
      const Assembly assembly(std::move(fleet));
      double measured = 0;
      double predicted = 0;
      double early = 0;
      Observer observer(16, assembly.evaluator(), [&](const FleetRecord& r) {
        if (r.round == 7) early = r.loss_local / expectation(assembly, r)->excess_local.value;
        if (r.round < 200) return;
        measured += r.consensus;
        predicted = expectation(assembly, r)->consensus.value;
      });
      simulate(assembly, observer, {});
      measured /= (2000 - 200) / 7 + 1;
      EXPECT_NEAR(measured / predicted, 1, 0.05);
      EXPECT_NEAR(early, 1, 0.2);
      const auto forecast_of = forecast(assembly, 100, {});
      EXPECT_NEAR(forecast_of->own.consensus.value() / predicted, 1, 0.01);
    }
  }
}

TEST(Expectation, OfRegressionNeedsFreshSamples) {
  Fleet fleet = regression_fleet(4, "ring", "lian", 400, 10);
  fleet.stop.rounds = 10;
  EXPECT_TRUE(regression_problem(Assembly(fleet)));
  fleet.stop.rounds = 11;
  EXPECT_FALSE(regression_problem(Assembly(fleet)));
  fleet.stop.rounds = 10;
  fleet.optimizer.momentum = 0.9;
  EXPECT_FALSE(regression_problem(Assembly(fleet)));
}

TEST(Expectation, StandsBesideTheMeasured) {
  const Assembly assembly(expected_fleet("lian", 4, 3));
  const FleetRecord record = simulated(assembly);
  const auto expected = expectation(assembly, record);
  Json summary = summary_json(record, 0, 1, {"abc", ""});
  add_expectation(summary, expected);
  const auto json = nlohmann::json::parse(summary.dump());
  EXPECT_EQ(json.at("predicted").at("consensus"), expected->consensus.value);
  EXPECT_EQ(json.at("params_hash"), "abc");
  const std::string text = expectation_text(expected, record);
  EXPECT_TRUE(text.starts_with("\npredicted  consensus ")) << text;
  EXPECT_EQ(std::ranges::count(text, '\n'), 3);
}

TEST(Expectation, IsSilentWhereNothingIsKnown) {
  const Assembly assembly(expected_fleet("lian", 4, 3));
  FleetRecord record;
  record.peers = 7;  // one is lost
  EXPECT_FALSE(expectation(assembly, record));
  EXPECT_EQ(expectation_text(std::nullopt, record), "");
  Json summary{{"a", 1}};
  add_expectation(summary, std::nullopt);
  EXPECT_EQ(summary.dump(), "{\"a\":1}");
  record.peers = 8;
  EXPECT_FALSE(expectation(Assembly(quadratic_fleet(8, "ring", "all-reduce", "")), record));
}

}  // namespace
}  // namespace gv
