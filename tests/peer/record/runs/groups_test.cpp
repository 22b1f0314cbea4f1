#include "peer/record/runs/groups.h"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "tests/peer/record/runs/stored_runs.h"

namespace gv {
namespace {

using Keys = std::map<std::string, std::string>;

TEST(Groups, AreRunsThatDifferInTheirSeedAlone) {
  std::vector<StoredRun> runs;
  for (std::uint64_t seed : {3, 1, 2})
    for (const char* graph : {"ring", "torus"})
      runs.push_back(
          run_of({{"topology.kind", graph}, {"seed", std::to_string(seed)}, {"output.dir", graph}},
                 seed, 0.1));
  const RunTable table = group_runs(runs);
  EXPECT_EQ(table.columns, std::vector<std::string>{"topology.kind"});
  ASSERT_EQ(table.groups.size(), 2U);
  EXPECT_EQ(label_of(table, table.groups[0]), "ring");
  EXPECT_EQ(table.groups[1].values, std::vector<std::string>{"torus"});
  ASSERT_EQ(table.groups[1].runs.size(), 3U);
  for (std::uint64_t k = 0; k < 3; ++k) EXPECT_EQ(table.groups[1].runs[k]->seed, k + 1);
}

/// Keys that follow from the columns are listed apart, not shown in each label.
TEST(Groups, HaveTheFewestColumnsThatTellThemApart) {
  const std::vector<StoredRun> runs{
      run_of({{"algorithm.kind", "d-psgd"}, {"topology.weights", "metropolis"}}, 1, 0.1),
      run_of({{"algorithm.kind", "all-reduce"}}, 1, 0.1),
      run_of({{"algorithm.kind", "d-psgd"}, {"train.optimizer.lr", "0.5"}}, 1, 0.1)};
  const RunTable table = group_runs(runs);
  EXPECT_EQ(table.columns, (std::vector<std::string>{"algorithm.kind", "topology.weights"}));
  EXPECT_EQ(table.others, std::vector<std::string>{"train.optimizer.lr"});
  EXPECT_EQ(label_of(table, table.groups.back()), "d-psgd metropolis");
}

TEST(Groups, TakeTheLaterOfTwoRunsWithOneSeed) {
  std::vector<StoredRun> runs{run_of({}, 1, 0.1), run_of({}, 1, 0.2)};
  runs[0].path = runs[0].shown = "runs/b";
  runs[1].path = runs[1].shown = "runs/a";
  runs[1].began = "2026-02-01T00:00:00Z";
  const RunTable table = group_runs(runs);
  ASSERT_EQ(table.groups.size(), 1U);
  ASSERT_EQ(table.groups[0].runs.size(), 1U);
  EXPECT_EQ(table.groups[0].runs[0]->shown, "runs/a");
  EXPECT_EQ(table.notes,
            std::vector<std::string>{"runs/b is left out: runs/a is later, with the same seed"});
}

TEST(Groups, OfASweepAreNamedByItsAxes) {
  std::vector<StoredRun> runs;
  for (const char* method : {"gossip", "server"}) {
    for (const char* network : {"dsl", "wifi"}) {
      StoredRun run = run_of({{"algorithm.kind", method}, {"network.latency", network}}, 1, 0.1);
      run.labels = {{"method", method}, {"network", network}};
      runs.push_back(run);
    }
  }
  const RunTable table = group_runs(runs);
  EXPECT_EQ(table.columns, (std::vector<std::string>{"method", "network"}));
  EXPECT_EQ(label_of(table, table.groups[1]), "gossip wifi");
  EXPECT_EQ(label_of(table, table.groups[1], {"network"}), "gossip");
  EXPECT_EQ(columns_named(table, "network"), std::vector<std::string>{"network"});
}

/// The order was once 0.1, 1, 20, 5.
TEST(Groups, StandInTheOrderOfTheirNumbers) {
  std::vector<StoredRun> runs;
  for (const char* rate : {"20", "1", "5", "0.1", "1e-3"})
    runs.push_back(run_of({{"train.optimizer.lr", rate}}, 1, 0.1));
  for (const char* peers : {"ring 16", "ring 4", "line 64"}) {
    runs.push_back(run_of({{"train.optimizer.lr", peers}}, 1, 0.1));
  }
  std::vector<std::string> order;
  for (const RunGroup& group : group_runs(runs).groups) order.push_back(group.values.at(0));
  EXPECT_EQ(order, (std::vector<std::string>{"1e-3", "0.1", "1", "5", "20", "line 64", "ring 4",
                                             "ring 16"}));
}

TEST(Groups, AreToldApartByARoomOfKeys) {
  std::vector<StoredRun> runs;
  for (const char* bandwidth : {"10 Mbit", "1 Gbit"})
    runs.push_back(run_of({{"network.bandwidth", bandwidth}, {"network.latency", "5 ms"}}, 1, 0.1));
  const RunTable table = group_runs(runs);
  EXPECT_EQ(columns_named(table, "network"), std::vector<std::string>{"network.bandwidth"});
  EXPECT_EQ(label_of(table, table.groups[0]), "bandwidth 1 Gbit");
  EXPECT_THROW(columns_named(table, "train"), std::invalid_argument);
}

/// Measured speeds make a list of four lines. The label must name the local steps instead.
TEST(Groups, AreNamedByAWordRatherThanByAList) {
  const std::string peers = "[{ host: anna, count: 1, speed: 4.76 }, { host: ben, count: 1 }]";
  const std::string other = "[{ host: anna, count: 1, speed: 4.71 }, { host: ben, count: 1 }]";
  const std::vector<StoredRun> runs{run_of({{"peers", peers}, {"train.local_steps", "1"}}, 1, 0.1),
                                    run_of({{"peers", other}, {"train.local_steps", "8"}}, 1, 0.1)};
  const RunTable table = group_runs(runs);
  EXPECT_EQ(table.columns, std::vector<std::string>{"train.local_steps"});
  EXPECT_EQ(label_of(table, table.groups[1]), "local_steps 8");
}

/// Curves once ended with their shortest seed, below the target at which all seeds had stopped.
TEST(Curves, GoOnUntilTheLastSeedHasEnded) {
  const std::vector<StoredRun> runs{run_of({}, 1, 0.1, 100), run_of({}, 2, 0.1, 200)};
  const RunTable table = group_runs(runs);
  const auto curve = curve_of(table.groups[0], CurveAxis::rounds, CurveFigure::accuracy);
  ASSERT_FALSE(curve.empty());
  EXPECT_EQ(curve.front().at, 10);
  const auto shorter = std::ranges::find(curve, 100.0, &CurvePoint::at);
  ASSERT_NE(shorter, curve.end());
  EXPECT_DOUBLE_EQ(shorter->least, 0.5);
  EXPECT_DOUBLE_EQ(shorter->most, 1.0);
  EXPECT_DOUBLE_EQ(shorter->mean, 0.75);
  EXPECT_DOUBLE_EQ(shorter->deviation, 0.5 / std::sqrt(2.0));
  EXPECT_EQ(curve.back().at, 200);
  EXPECT_DOUBLE_EQ(curve.back().least, 1.0) << "who has ended keeps its last value";
  EXPECT_TRUE(curve_of(table.groups[0], CurveAxis::epochs, CurveFigure::accuracy).empty());
}

/// No evaluation is cut off if evaluations are uneven, or differ between two seeds.
TEST(Curves, HaveEveryEvaluationOfEverySeed) {
  std::vector<StoredRun> runs{run_of({}, 1, 0.1, 40, 10), run_of({}, 2, 0.1, 40, 8)};
  runs[0].evaluations[1].round = 13;
  const RunTable table = group_runs(runs);
  std::vector<double> places;
  for (const auto& point : curve_of(table.groups[0], CurveAxis::rounds, CurveFigure::accuracy))
    places.push_back(point.at);
  EXPECT_EQ(places, (std::vector<double>{10, 13, 16, 24, 30, 32, 40}));
  EXPECT_EQ(curve_of(table.groups[0], CurveAxis::rounds, CurveFigure::accuracy, 4).size(), 4U);
}

TEST(Curves, InterpolateBetweenEvaluations) {
  const std::vector<StoredRun> runs{run_of({}, 1, 0.1, 100), run_of({}, 2, 0.3, 100)};
  const RunTable table = group_runs(runs);
  for (const auto& point : curve_of(table.groups[0], CurveAxis::seconds, CurveFigure::accuracy)) {
    EXPECT_NEAR(point.most, std::min(1.0, point.at / 10), 1e-12);
    EXPECT_NEAR(point.least, point.at / 30, 1e-12);
  }
}

}  // namespace
}  // namespace gv
