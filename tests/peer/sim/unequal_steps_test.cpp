#include <algorithm>
#include <numeric>

#include <gtest/gtest.h>

#include "tests/peer/fleet/local_step_rows.h"
#include "tests/peer/sim/method_runs.h"

// Peers with unequal numbers of local steps, `train.local_steps: auto`. Without compensating rates
// a fleet settles where sum_i steps_i grad f_i = 0, the minimum of another objective (Wang et al.
// 2020, arXiv:2007.07481, Theorem 1).

namespace gv {
namespace {

/// Peer 0 has different data and takes most of the steps.
const std::vector<std::uint32_t> own_steps{9, 4, 2, 1};
constexpr std::uint32_t mean_steps = 4;
const Values centers{8, 0, 0, 0};
constexpr double minimum = 2;  ///< minimum of the fleet's objective: the mean of the centres
constexpr double biased = 8 * 9 / 16.0;
constexpr double gamma = 0.005;

Fleet drifting(Fleet fleet) {
  fleet.local_steps = mean_steps;
  fleet.own_steps = own_steps;
  fleet.data.quadratic = {.dimension = 1,
                          .hessian = {1},
                          .noise = 0,
                          .spread = 0,
                          .start = 0,
                          .centers = {{8}, {0}, {0}, {0}}};
  fleet.optimizer.lr = gamma;
  fleet.optimizer.momentum = 0;
  fleet.stop.rounds = 1500;
  if (fleet.algorithm == "robust-gossip") fleet.settings["liars"] = 0;  // peer 0 would be one
  return fleet;
}

double mean_of(const Values& v) {
  return std::accumulate(v.begin(), v.end(), 0.0) / static_cast<double>(v.size());
}

/// Local SGD in double precision, with each peer's rate, or with the fleet's rate if `alike`.
double local_sgd(std::uint64_t rounds, bool alike) {
  double x = 0;
  for (std::uint64_t t = 0; t < rounds; ++t) {
    Values moved(4, x);
    for (std::size_t i = 0; i < 4; ++i) {
      const double rate = alike ? gamma : gamma * mean_steps / own_steps[i];
      for (std::uint32_t h = 0; h < own_steps[i]; ++h) moved[i] -= rate * (moved[i] - centers[i]);
    }
    x = mean_of(moved);
  }
  return x;
}

TEST(UnequalSteps, LocalSgdIsTheRecursionThatEndsAtTheMinimum) {
  for (const std::uint64_t rounds : {3U, 40U, 1500U}) {
    Fleet fleet = drifting(quadratic_fleet(4, "ring", "local-sgd", ""));
    fleet.stop.rounds = rounds;
    for (const double x : first_coordinates(run(fleet)))
      EXPECT_NEAR(x, local_sgd(rounds, false), 1e-5) << rounds;
  }
  EXPECT_NEAR(local_sgd(1500, false), minimum, 0.02);
  EXPECT_NEAR(local_sgd(1500, true), biased, 0.2) << "what the rates are for";
}

/// Every method that takes local steps and averages, with momentum too.
class UnequalStepsOfRow : public testing::TestWithParam<const AlgorithmRow*> {};

TEST_P(UnequalStepsOfRow, EndAtTheMinimumOfTheFleetsObjective) {
  const Fleet of_row = row_fleet(*GetParam(), 4);
  for (const double momentum : {0.0, of_row.optimizer.momentum}) {
    Fleet fleet = drifting(of_row);
    fleet.optimizer.momentum = momentum;
    fleet.optimizer.lr *= 1 - momentum;
    const Values x = first_coordinates(run(fleet));
    EXPECT_NEAR(mean_of(x), minimum, 0.05) << "momentum " << momentum;
  }
}

class UnequalStepsOfAgreement : public testing::TestWithParam<const AlgorithmRow*> {};

/// After an average all peers have equal bits, whatever the schedule does to their rates.
TEST_P(UnequalStepsOfAgreement, KeepIt) {
  Fleet fleet = drifting(row_fleet(*GetParam(), 4));
  fleet.own_steps = {7, 5, 3, 1};
  fleet.stop.rounds = 30;
  for (const char* schedule : {"cosine", "step"}) {
    fleet.optimizer.schedule.kind = schedule;
    fleet.optimizer.schedule.every = 10;
    const Values x = first_coordinates(run(fleet));
    EXPECT_EQ(std::ranges::count(x, x[0]), 4) << schedule;
    EXPECT_NE(x[0], 0);
  }
}

std::vector<const AlgorithmRow*> averaging_rows() {
  std::vector<const AlgorithmRow*> rows = rows_with_unequal_steps();
  // With decoupled-diloco a peer with more steps counts more, as in its paper.
  std::erase_if(rows, [](const AlgorithmRow* row) {
    return row->kind == "isolated" || row->kind == "decoupled-diloco";
  });
  return rows;
}

/// Returns the rows whose peers hold one model after an average.
std::vector<const AlgorithmRow*> agreeing_rows() {
  std::vector<const AlgorithmRow*> rows = averaging_rows();
  std::erase_if(rows, [](const AlgorithmRow* row) {
    return row->promise != Promise::agreement || row->kind == "gossip-pga" ||
           row->kind == "eager-diloco" || row->kind == "factored-diloco";
  });
  return rows;
}

INSTANTIATE_TEST_SUITE_P(Registry,
                         UnequalStepsOfRow,
                         testing::ValuesIn(averaging_rows()),
                         [](const auto& row) { return name_of(*row.param); });
INSTANTIATE_TEST_SUITE_P(Registry,
                         UnequalStepsOfAgreement,
                         testing::ValuesIn(agreeing_rows()),
                         [](const auto& row) { return name_of(*row.param); });

TEST(UnequalSteps, AreRefusedByWhoCountsItsDelayInThem) {
  Fleet fleet = quadratic_fleet(4, "ring", "streaming-diloco", "");
  fleet.local_steps = mean_steps;
  EXPECT_NO_THROW(Assembly{fleet});
  fleet.own_steps = own_steps;
  EXPECT_THROW(Assembly{fleet}, FleetError);
}

/// Equal steps would let the others wait for the last peer at speeds of 8 : 4 : 2 : 1.
TEST(UnequalSteps, AreOverAtTheSameTime) {
  const auto seconds = [](std::vector<std::uint32_t> own) {
    Fleet fleet = restless(4, "local-sgd");
    fleet.local_steps = mean_steps;
    fleet.own_steps = std::move(own);
    fleet.flops = 1e5;
    for (PeerId i = 0; i < 4; ++i) fleet.peers[i].speed = 8 >> i;
    const Assembly assembly(fleet);
    Observer observer(4, assembly.evaluator(), {});
    return in_seconds(simulate(assembly, observer, {}).virtual_time);
  };
  EXPECT_LT(seconds(own_steps), 0.5 * seconds({}));
}

/// An epoch has as many samples as the data set, from any peers.
TEST(UnequalSteps, AnEpochCountsThemAll) {
  Fleet fleet = quadratic_fleet(4, "ring", "local-sgd", "");
  fleet.data.kind = "blobs";
  fleet.data.train = 1280;
  fleet.data.test = 10;
  fleet.model.kind = "softmax";
  for (PeerId i = 0; i < 4; ++i) fleet.peers[i].batch = i < 2 ? 10 : 30;
  fleet.stop.rounds.reset();
  fleet.stop.epochs = 3;
  fleet.local_steps = mean_steps;
  fleet.own_steps = own_steps;
  EXPECT_EQ(Assembly(fleet).rounds, 18U) << "10 * (9 + 4) + 30 * (2 + 1) = 220 a round";
}

}  // namespace
}  // namespace gv
