#include "peer/study/predict/calibrate/fleet_calibration.h"

#include <gtest/gtest.h>

#include "graph/topologies.h"
#include "peer/sim/simulation.h"
#include "peer/study/predict/calibrate/calibrated_forecast.h"
#include "peer/study/predict/forecast/expectation.h"
#include "peer/study/predict/forecast/forecast.h"
#include "tests/peer/fleet/test_fleet.h"

namespace gv {
namespace {

void silent(const std::string&) {}

Fleet blobs_fleet(const std::string& topology, const std::string& order) {
  Fleet fleet = quadratic_fleet(8, topology, "d-psgd", order);
  fleet.data.kind = "blobs";
  fleet.data.train = 1024;
  fleet.data.test = 64;
  fleet.data.features = 12;
  fleet.data.separation = 1;
  fleet.model.kind = "softmax";
  for (PeerSpec& peer : fleet.peers) peer.batch = 4;
  fleet.optimizer.lr = 0.05;
  fleet.stop.rounds = 400;
  return fleet;
}

TEST(FleetCalibration, OfAQuadraticSaysWhatTheTheorySays) {
  Fleet fleet = quadratic_fleet(8, "ring", "d-psgd", "atc");
  fleet.data.quadratic = {
      .dimension = 64, .hessian = {1, 0.5}, .noise = 1, .spread = 0.5, .start = 1, .centers = {}};
  fleet.optimizer.lr = 0.05;
  fleet.stop.rounds = 400;
  const Assembly assembly(fleet);
  const FleetCalibration c = calibrate(assembly, silent);
  EXPECT_NEAR(c.points.back().at.curvature, 1, 0.01);
  EXPECT_NEAR(c.points.back().at.noise, 64, 3);
  const Stationary found = CalibratedForecast(assembly, *assembly.w, c).after(400);
  const auto exact = quadratic_problem(assembly)->after(modes_of(*assembly.w), 400);
  EXPECT_NEAR(found.excess_mean.value, exact->excess_mean.value, 0.1 * exact->excess_mean.value);
  EXPECT_NEAR(found.consensus.value, exact->consensus.value, 0.2 * exact->consensus.value);
}

/// Compares the mean of several records of one fleet with the prediction for their middle.
TEST(FleetCalibration, OfASoftmaxAgreesWithTheFleet) {
  for (const char* order : {"lian", "atc"}) {
    SCOPED_TRACE(order);
    Fleet fleet = blobs_fleet("ring", order);
    const Assembly planned(fleet);
    const Stationary predicted =
        CalibratedForecast(planned, *planned.w, calibrate(planned, silent)).after(400);
    fleet.stop.rounds = 500;
    fleet.evaluate_every = 3;
    const Assembly run(fleet);
    double sum = 0;
    int count = 0;
    Observer observer(8, run.evaluator(), [&](const FleetRecord& r) {
      if (r.round < 300) return;
      sum += r.consensus;
      ++count;
    });
    SimulationOptions options;
    options.threads = 1;
    simulate(run, observer, options);
    EXPECT_NEAR(predicted.consensus.value, sum / count, 0.25 * sum / count);
  }
}

/// Compares forecasts of a slow graph and of all-reduce, which averages exactly after each step.
TEST(CalibratedForecast, SpeaksOfTheEndOfTheRunAndKnowsAllReduce) {
  const Assembly fleet(blobs_fleet("star", "atc"));
  const FleetCalibration c = calibrate(fleet, silent);
  FleetForecast f = forecast(fleet, 100, {.max_degree = 4, .schedules = false}).value();
  add_calibrated(f, fleet, c, std::nullopt);
  EXPECT_NE(f.advice.find("local models end the run at an excess loss of"), std::string::npos)
      << f.advice;
  EXPECT_EQ(forecast_text(f).find("settle"), std::string::npos) << forecast_text(f);
  const Forecast& sums = f.all_reduce.value();
  EXPECT_EQ(sums.consensus, 0);
  EXPECT_GT(sums.excess_mean.value(), 0);
  EXPECT_EQ(sums.excess_local, sums.excess_mean);
  // Equally drawn shares pull local models apart only a little, and their mean even less.
  EXPECT_NEAR(sums.excess_mean.value(), f.own.excess_mean.value(), 0.1 * f.own.excess_mean.value());
  EXPECT_LT(sums.excess_local.value(), f.own.excess_local.value());
  EXPECT_LE(sums.rounds_to_target.value(), f.own.rounds_to_target.value());
  const Stationary complete =
      CalibratedForecast(fleet, metropolis(build(parse_topology("complete"), 8)), c).after(400);
  EXPECT_NEAR(complete.consensus.value, 0, 1e-15);
  EXPECT_NEAR(complete.excess_local.value, sums.excess_local.value(), 1e-12);
}

Fleet linear_fleet() {
  Fleet fleet = quadratic_fleet(9, "king-torus:3x3", "d-psgd", "lian");
  fleet.data.kind = "linear";
  fleet.data.train = 1800;
  fleet.data.test = 100;
  fleet.data.features = 8;
  fleet.data.noise = 0.5;
  fleet.model.kind = "linear";
  for (PeerSpec& peer : fleet.peers) peer.batch = 8;
  fleet.optimizer.lr = 0.05;
  fleet.stop.rounds = 400;
  return fleet;
}

/// The target was once the loss in the last tenth, long after training had converged. Equal graphs
/// then got 167, 190, 266 rounds and none.
TEST(CalibratedForecast, TheUsualTargetIsOneThatNoiseDoesNotDecide) {
  const Assembly fleet(linear_fleet());
  const FleetCalibration c = calibrate(fleet, silent);
  const auto ahead = [&](std::optional<double> target) {
    FleetForecast f =
        forecast(fleet, 100, {.max_degree = 8, .target = target, .schedules = false}).value();
    add_calibrated(f, fleet, c, target);
    return f;
  };
  const FleetForecast usual = ahead(std::nullopt);
  EXPECT_EQ(usual.warning, "");
  ASSERT_TRUE(usual.own.rounds_to_target.has_value());
  const double own = usual.own.rounds_to_target.value();
  std::size_t as_dense = 0;
  for (const Forecast& other : usual.others) {
    if (other.degree != usual.own.degree) continue;
    ++as_dense;
    ASSERT_TRUE(other.rounds_to_target.has_value()) << other.topology;
    EXPECT_NEAR(other.rounds_to_target.value() / own, 1, 0.1) << other.topology;
  }
  EXPECT_GE(as_dense, 1U);
  const FleetForecast none =
      ahead(usual.target.value() - 0.5 * usual.own.excess_local.value() - 1e-3);
  EXPECT_NE(none.warning.find("no graph here is sure to get to"), std::string::npos)
      << none.warning << usual.target.value();
  EXPECT_EQ(ahead(1.5 * usual.target.value()).warning, "");
  EXPECT_NE(usual.basis.find("of the training samples, as the mean over peers"), std::string::npos)
      << usual.basis;
  EXPECT_NE(forecast_text(usual).find("losses: of the"), std::string::npos) << forecast_text(usual);
}

/// The stated errors were once a tenth of the real ones at rates x curvatures of 0.35 and more.
TEST(CalibratedForecast, SaysBeyondWhichRateItsErrorsDoNotHold) {
  Fleet fleet = linear_fleet();
  const auto text_at = [&](double rate) {
    fleet.optimizer.lr = rate;
    const Assembly assembly(fleet);
    FleetForecast f = forecast(assembly, 100, {.max_degree = 4, .schedules = false}).value();
    add_calibrated(f, assembly, calibrate(assembly, silent), std::nullopt);
    return forecast_text(f);
  };
  const std::string low = text_at(0.05);
  EXPECT_NE(low.find(" +- "), std::string::npos) << low;
  EXPECT_EQ(low.find("rate x L"), std::string::npos) << low;
  const std::string high = text_at(0.3);
  EXPECT_EQ(high.find(" +- "), std::string::npos) << high;
  EXPECT_NE(high.find("~: rate x L gets to 0."), std::string::npos) << high;
}

TEST(CalibratedForecast, PeersApartCostTheMeanModel) {
  Fleet fleet = blobs_fleet("star", "atc");
  fleet.data.partition.kind = "by-label";
  fleet.data.partition.classes_per_peer = 1;
  const Assembly star(fleet);
  const FleetCalibration c = calibrate(star, silent);
  const double sums = CalibratedForecast::of_all_reduce(star, c).after(400).excess_mean.value;
  const Stationary own = CalibratedForecast(star, *star.w, c).after(400);
  EXPECT_GT(own.excess_mean.value, 2 * sums);
  EXPECT_GT(own.excess_local.value, own.excess_mean.value);
}

TEST(FleetCalibration, HasTheSameBitsEachTime) {
  const Assembly fleet(blobs_fleet("star", "lian"));
  const FleetCalibration a = calibrate(fleet, silent);
  const FleetCalibration b = calibrate(fleet, silent);
  ASSERT_EQ(a.points.size(), 5U);
  EXPECT_EQ(a.points.back().at.noise, b.points.back().at.noise);
  EXPECT_EQ(CalibratedForecast(fleet, *fleet.w, a).after(99).consensus.value,
            CalibratedForecast(fleet, *fleet.w, b).after(99).consensus.value);
  EXPECT_EQ(a.curve.size(), b.curve.size());
  EXPECT_LT(a.curve.back().loss, a.curve.front().loss);
}

TEST(FleetCalibration, StopsWhenTheWorkAllowedIsDone) {
  const Assembly fleet(blobs_fleet("ring", "lian"));
  const FleetCalibration c = calibrate(fleet, silent, 1);
  EXPECT_EQ(c.points.size(), 1U);
  EXPECT_NE(calibration_json(c).dump().find("\"complete\":false"), std::string::npos);
  EXPECT_NE(calibration_text(c).find("stopped before"), std::string::npos);
}

TEST(FleetCalibration, RefusesWhatItHasNoTheoryFor) {
  Fleet fleet = blobs_fleet("ring", "lian");
  for (PeerSpec& peer : fleet.peers) peer.batch = 128;
  EXPECT_THROW(calibrate(Assembly(fleet), silent), FleetError);
  fleet = blobs_fleet("ring", "lian");
  fleet.optimizer.kind = "adam";
  EXPECT_NE(not_calibrated(Assembly(fleet)).find("adam divides"), std::string::npos);
  EXPECT_THROW(calibrate(Assembly(fleet), silent), std::invalid_argument);
  fleet = blobs_fleet("ring", "lian");
  fleet.local_steps = 2;
  EXPECT_NE(not_calibrated(Assembly(fleet)).find("one local step"), std::string::npos);
  fleet = blobs_fleet("ring", "lian");
  EXPECT_EQ(not_calibrated(Assembly(fleet)), "");
  fleet.optimizer.schedule.kind = "cosine";
  fleet.optimizer.momentum = 0.9;
  fleet.optimizer.nesterov = true;
  EXPECT_EQ(not_calibrated(Assembly(fleet)), "");
}

}  // namespace
}  // namespace gv
