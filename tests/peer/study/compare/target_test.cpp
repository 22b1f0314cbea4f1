#include "peer/study/compare/target.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "peer/study/compare/comparison.h"
#include "tests/peer/record/runs/stored_runs.h"

namespace gv {
namespace {

using Figure = CompareTarget::Figure;
using Whose = CompareTarget::Whose;

TEST(Target, IsReadAsItIsWritten) {
  const auto same = [](const char* text, Figure figure, Whose whose, double value) {
    const CompareTarget target = parse_target(text);
    EXPECT_EQ(target, (CompareTarget{.figure = figure, .whose = whose, .value = value})) << text;
  };
  same("accuracy=0.88", Figure::accuracy, Whose::mean, 0.88);
  same("accuracy=88%", Figure::accuracy, Whose::mean, 0.88);
  same("accuracy.worst=0.5", Figure::accuracy, Whose::worst, 0.5);
  same("loss=-2", Figure::loss, Whose::mean, -2);
  same("loss.local=0.3", Figure::loss, Whose::local, 0.3);
  EXPECT_EQ(parse_target("loss=0.3 for 3").in_a_row, 3U);
  const CompareTarget returned{
      .figure = Figure::loss, .whose = Whose::local, .value = -475, .as_return = true};
  EXPECT_EQ(parse_target("return.local=475"), returned);
  EXPECT_EQ(parse_target("return=-100 for 2").value, 100);
  for (const char* wrong :
       {"", "accuracy=0.9 for", "accuracy=0.9 for x", "accuracy=0.9 for 0", "accuracy=0.9 for 1001",
        "accuracy", "accuracy=", "accuracy=x", "accuracy=1.5", "accuracy=0", "speed=3", "loss=nan",
        "loss=1e999", "loss=1 2", "return", "return=x", "return.worst=4"})
    EXPECT_THROW(parse_target(wrong), std::invalid_argument) << wrong;
}

TEST(Target, IsWrittenAsItIsRead) {
  for (const char* text : {"accuracy=0.88", "accuracy.worst=0.5 for 2", "loss=-2",
                           "loss.local=0.3 for 7", "return=475", "return.local=-110 for 3"})
    EXPECT_EQ(target_argument(parse_target(text)), text);
}

/// The return is 50 at round 10, 100 at 20, ..., and the loss is minus the return.
TEST(Target, OfAnAgentIsItsReturn) {
  StoredRun run = run_of({{"stop.target.return", "225"}}, 1, 0.1);
  for (MetricsRow& e : run.evaluations) {
    e.loss = -500 * *e.accuracy;
    e.loss_local = e.loss / 2;
    e.accuracy.reset();
    e.frames = 8 * static_cast<double>(e.round);
  }
  EXPECT_NEAR(cost_of(run, parse_target("return=225"))->rounds, 45, 1e-9);
  EXPECT_NEAR(cost_of(run, parse_target("return.local=225"))->rounds, 90, 1e-9);
  EXPECT_FALSE(cost_of(run, parse_target("return=501")));
  EXPECT_EQ(target_in_files({run}), parse_target("return=225"));
  for (MetricsRow& e : run.evaluations) e.frames.reset();
  EXPECT_FALSE(cost_of(run, parse_target("return=225"))) << "a loss that is no return";
}

/// The accuracy is 0.1 at round 10, 0.2 at 20, ..., so 0.25 is half-way between 20 and 30.
TEST(Target, CostsAreInterpolatedFromTheEvaluationBefore) {
  const StoredRun run = run_of({}, 1, 0.1);
  const auto cost = cost_of(run, parse_target("accuracy=0.25"));
  ASSERT_TRUE(cost);
  EXPECT_NEAR(cost->rounds, 25, 1e-9);
  EXPECT_NEAR(cost->seconds, 2.5, 1e-9);
  EXPECT_NEAR(cost->bytes, 25'000, 1e-6);
  EXPECT_EQ(cost->resolution, 10);
  EXPECT_NEAR(cost_of(run, parse_target("accuracy=0.3"))->rounds, 30, 1e-9);
  EXPECT_NEAR(cost_of(run, parse_target("loss=0.65"))->rounds, 45, 1e-9);
  EXPECT_FALSE(cost_of(run, parse_target("loss=0.05")));
}

TEST(Target, OfAFirstEvaluationThatIsThereAlreadyCostsThat) {
  const auto cost = cost_of(run_of({}, 1, 0.1), parse_target("accuracy=0.05"));
  ASSERT_TRUE(cost);
  EXPECT_EQ(cost->rounds, 10);
  EXPECT_EQ(cost->resolution, 0);
}

/// A run that exceeds the target and falls back has reached it.
TEST(Target, IsReachedTheFirstTime) {
  StoredRun run = run_of({}, 1, 0.1);
  run.evaluations[4].accuracy = 0.2;
  EXPECT_NEAR(cost_of(run, parse_target("accuracy=0.35"))->rounds, 35, 1e-9);
}

/// An accuracy that falls back at once does not count with `for: 2`, and later the first does.
TEST(Target, StaysForAsManyEvaluationsAsAsked) {
  StoredRun run = run_of({}, 1, 0.1);
  run.evaluations[4].accuracy = 0.2;
  EXPECT_NEAR(cost_of(run, parse_target("accuracy=0.35 for 2"))->rounds, 53.75, 1e-9);
  const std::size_t all = run.evaluations.size();
  const std::string last = fmt::format("accuracy={}", *run.evaluations.back().accuracy);
  EXPECT_TRUE(cost_of(run, parse_target(last)));
  EXPECT_FALSE(cost_of(run, parse_target(last + " for 2"))) << all << " evaluations, and no more";
}

TEST(Target, CountsTheClockWithoutEvaluationsWhereItWasKept) {
  StoredRun run = run_of({}, 1, 0.1);
  for (MetricsRow& e : run.evaluations) {
    e.training_seconds = e.seconds / 2;
    e.states = ActivitySeconds{e.seconds, 0, 0, 0, 0, 0, 0, 0};
  }
  const auto cost = cost_of(run, parse_target("accuracy=0.25"));
  EXPECT_NEAR(cost->seconds, 1.25, 1e-9);
  EXPECT_NEAR((*cost->states)[0], 2.5, 1e-9);
}

TEST(Target, IsThatOfTheFilesWhereAllNameTheSame) {
  std::vector<StoredRun> runs{run_of({{"stop.target.accuracy", "0.8"}}, 1, 0.1),
                              run_of({{"stop.target.accuracy", "0.8"}}, 2, 0.1)};
  EXPECT_EQ(target_in_files(runs)->value, 0.8);
  runs[1].keys["stop.target.accuracy"] = "0.9";
  EXPECT_FALSE(target_in_files(runs));
  for (StoredRun& run : runs)
    run.keys = {{"stop.target.loss", "0.4"}, {"stop.target.of", "local"}, {"stop.target.for", "2"}};
  EXPECT_EQ(target_in_files(runs), parse_target("loss.local=0.4 for 2"));
  runs[1].keys.clear();
  EXPECT_FALSE(target_in_files(runs));
}

TEST(Pareto, KeepsWhatNobodyBeatsInBoth) {
  const double never = INFINITY;
  EXPECT_EQ(not_dominated({{1, 9}, {2, 5}, {3, 5}, {9, 1}, {never, never}}),
            (std::vector<bool>{true, true, false, true, false}));
  EXPECT_EQ(not_dominated({{1, 1}, {1, 1}}), (std::vector<bool>{true, true}));
  EXPECT_TRUE(not_dominated({}).empty());
}

}  // namespace
}  // namespace gv
