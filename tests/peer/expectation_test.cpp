#include "peer/report/expectation.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "peer/report/metrics.h"
#include "peer/sim/simulation.h"
#include "tests/peer/test_fleet.h"

namespace gv {
namespace {

Fleet fleet_of(const char* order, std::uint32_t dimension, std::uint64_t rounds) {
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

/// Early and late; with the fleet's own minima the noise alone scatters.
TEST(Expectation, IsWhatARunMeasures) {
  for (const char* order : {"lian", "atc", "cta"}) {
    for (const std::uint64_t rounds : {5U, 200U}) {
      SCOPED_TRACE(std::string(order) + " " + std::to_string(rounds));
      const Assembly assembly(fleet_of(order, 2000, rounds));
      const FleetRecord record = simulated(assembly);
      const Stationary expected = expectation(assembly, record).value();
      EXPECT_NEAR(record.consensus / expected.consensus.value, 1, 0.05);
      EXPECT_NEAR(record.mean.loss / expected.excess_mean.value, 1, 0.1);
      EXPECT_NEAR(record.loss_local / expected.excess_local.value, 1, 0.05);
    }
  }
}

/// Without noise nothing is left to chance.
TEST(Expectation, FollowsTheFleetsOwnMinima) {
  Fleet fleet = fleet_of("lian", 3, 17);
  fleet.data.quadratic.noise = 0;
  const Assembly assembly(std::move(fleet));
  const FleetRecord record = simulated(assembly);
  const Stationary expected = expectation(assembly, record).value();
  EXPECT_NEAR(record.consensus / expected.consensus.value, 1, 1e-5);
  EXPECT_NEAR(record.mean.loss / expected.excess_mean.value, 1, 1e-5);
  EXPECT_NEAR(record.loss_local / expected.excess_local.value, 1, 1e-5);
}

/// Schedules, with all that may be random in them drawn: round for round what the runtime does.
TEST(Expectation, FollowsASchedule) {
  for (const char* schedule : {"one-peer-exponential",
                               "random-matching:seed=5",
                               "base:k=1",
                               "od-equi-dyn:eta=0.5",
                               "ou-equi-dyn:eta=0.7",
                               "matcha:budget=0.5,graph=ring"}) {
    for (const char* order : {"lian", "atc", "cta"}) {
      SCOPED_TRACE(std::string(schedule) + " " + order);
      Fleet fleet = fleet_of(order, 3, 17);
      fleet.schedule = parse_schedule(schedule);
      fleet.data.quadratic.noise = 0;
      fleet.optimizer.momentum = 0.5;
      fleet.local_steps = 2;
      const Assembly assembly(std::move(fleet));
      const FleetRecord record = simulated(assembly);
      const Stationary expected = expectation(assembly, record).value();
      EXPECT_NEAR(record.consensus / expected.consensus.value, 1, 1e-4);
      EXPECT_NEAR(record.mean.loss / expected.excess_mean.value, 1, 1e-4);
      EXPECT_NEAR(record.loss_local / expected.excess_local.value, 1, 1e-4);
    }
  }
}

TEST(Expectation, OfAScheduleKnowsTheNoise) {
  for (const char* schedule : {"one-peer-exponential", "random-matching", "base:k=2"}) {
    SCOPED_TRACE(schedule);
    Fleet fleet = fleet_of("lian", 2000, 60);
    fleet.schedule = parse_schedule(schedule);
    const Assembly assembly(std::move(fleet));
    const FleetRecord record = simulated(assembly);
    const Stationary expected = expectation(assembly, record).value();
    EXPECT_NEAR(record.consensus / expected.consensus.value, 1, 0.05);
    EXPECT_NEAR(record.mean.loss / expected.excess_mean.value, 1, 0.1);
    EXPECT_NEAR(record.loss_local / expected.excess_local.value, 1, 0.05);
  }
}

TEST(Expectation, StandsBesideTheMeasured) {
  const Assembly assembly(fleet_of("lian", 4, 3));
  const FleetRecord record = simulated(assembly);
  const auto expected = expectation(assembly, record);
  const auto json =
      nlohmann::json::parse(with_expectation(summary_line(record, 0, 1, "abc"), expected));
  EXPECT_EQ(json.at("predicted").at("consensus"), expected->consensus.value);
  EXPECT_EQ(json.at("params_hash"), "abc");
  const std::string text = expectation_text(expected, record);
  EXPECT_TRUE(text.starts_with("\npredicted  consensus ")) << text;
  EXPECT_EQ(std::ranges::count(text, '\n'), 3);
}

TEST(Expectation, IsSilentWhereNothingIsKnown) {
  const Assembly assembly(fleet_of("lian", 4, 3));
  FleetRecord record;
  record.peers = 7;  // one is lost
  EXPECT_FALSE(expectation(assembly, record));
  EXPECT_EQ(expectation_text(std::nullopt, record), "");
  EXPECT_EQ(with_expectation("{\"a\":1}", std::nullopt), "{\"a\":1}");
  record.peers = 8;
  EXPECT_FALSE(expectation(Assembly(quadratic_fleet(8, "ring", "all-reduce", "")), record));
}

}  // namespace
}  // namespace gv
