#include <cmath>

#include <gtest/gtest.h>

#include "graph/predict/quadratic.h"
#include "graph/schedules.h"
#include "graph/topologies.h"
#include "optim/rng.h"
#include "peer/runtime/assembly/assembly.h"
#include "peer/sim/simulation.h"
#include "tests/peer/fleet/test_fleet.h"

namespace gv {
namespace {

/// The predictor against the runtime: fleets of 16 in virtual time, with the code for TCP.
constexpr PeerId n = 16;
constexpr std::uint32_t replicas = 320;  ///< independent coordinates of each curvature
const std::vector<double> hessian{1, 0.5};

struct Measured {
  double consensus = 0, excess_mean = 0, excess_local = 0;
};

using Centers = std::vector<std::vector<double>>;

/// Draws one centre per peer and curvature, N(0, 1/4).
Centers drawn_centers() {
  const Rng rng(7);
  Centers centers;
  for (PeerId i = 0; i < n; ++i) {
    std::vector<float> row(hessian.size());
    rng.derive(i).fill_normal(row);
    centers.push_back({0.5 * static_cast<double>(row[0]), 0.5 * static_cast<double>(row[1])});
  }
  return centers;
}

Measured simulate_fleet(const char* topology, const char* order, const Centers& centers) {
  Fleet fleet = quadratic_fleet(n, topology, "d-psgd", order);
  QuadraticSpec& q = fleet.data.quadratic;
  q = {.dimension = 2 * replicas,
       .hessian = hessian,
       .noise = 1,
       .spread = 0,
       .start = 0,
       .centers = {}};
  for (const std::vector<double>& row : centers) {
    q.centers.emplace_back();
    for (std::uint32_t k = 0; k < q.dimension; ++k) q.centers.back().push_back(row[k % 2]);
  }
  fleet.optimizer.lr = 0.1;
  fleet.stop.rounds = 650;
  fleet.evaluate_every = fleet.schedule ? 3 : 10;  // includes every round of a period of 4
  const Assembly assembly(std::move(fleet));
  Measured sum;
  double records = 0;
  Observer observer(n, assembly.evaluator(), [&](const FleetRecord& r) {
    if (r.round < 150) return;
    ++records;
    sum.consensus += r.consensus;
    sum.excess_mean += r.mean.loss;
    sum.excess_local += r.loss_local;
  });
  simulate(assembly, observer, {});
  const double scale = records * replicas;
  return {sum.consensus / scale, sum.excess_mean / scale, sum.excess_local / scale};
}

class Prediction : public ::testing::TestWithParam<std::tuple<const char*, const char*>> {};

TEST_P(Prediction, IsWithinFivePercentOfTheRuntime) {
  const auto [topology, order] = GetParam();
  const TopologySpec spec = parse_topology(topology);
  const MixingMatrix w = metropolis(build(spec, n));
  const Modes modes = modes_of(w, &spec);
  const QuadraticFleet fleet{.hessian = hessian, .noise = 1, .rate = 0.1, .order = order};
  for (const Centers& centers : {Centers{}, drawn_centers()}) {
    SCOPED_TRACE(centers.empty() ? "alike" : "heterogeneous");
    const Stationary predicted =
        (centers.empty() ? predict(modes, fleet) : predict_centers(w, modes, fleet, centers))
            .value();
    const Measured measured = simulate_fleet(topology, order, centers);
    EXPECT_NEAR(measured.consensus / predicted.consensus.value, 1, 0.05);
    EXPECT_NEAR(measured.excess_mean / predicted.excess_mean.value, 1, 0.05);
    EXPECT_NEAR(measured.excess_local / predicted.excess_local.value, 1, 0.05);
  }
}

class ScheduledPrediction : public ::testing::TestWithParam<const char*> {};

TEST_P(ScheduledPrediction, IsWithinFivePercentOfTheRuntime) {
  const QuadraticFleet fleet{.hessian = hessian, .noise = 1, .rate = 0.1, .order = GetParam()};
  for (const char* schedule : {"one-peer-exponential", "random-matching"}) {
    SCOPED_TRACE(schedule);
    const Modes modes = schedule_modes(parse_schedule(schedule), n).value();
    const Stationary predicted = predict(modes, fleet).value();
    const Measured measured = simulate_fleet(schedule, GetParam(), {});
    EXPECT_NEAR(measured.consensus / predicted.consensus.value, 1, 0.05);
    EXPECT_NEAR(measured.excess_mean / predicted.excess_mean.value, 1, 0.05);
    EXPECT_NEAR(measured.excess_local / predicted.excess_local.value, 1, 0.05);
  }
}

INSTANTIATE_TEST_SUITE_P(Sixteen, ScheduledPrediction, ::testing::Values("lian", "atc", "cta"));

INSTANTIATE_TEST_SUITE_P(
    Sixteen,
    Prediction,
    ::testing::Combine(
        ::testing::Values("ring", "torus:4x4", "hypercube", "star", "path", "exponential"),
        ::testing::Values("lian", "atc", "cta")),
    [](const auto& row) {
      const std::string topology = std::get<0>(row.param);
      return topology.substr(0, topology.find(':')) + "_" + std::get<1>(row.param);
    });

}  // namespace
}  // namespace gv
