#include "peer/study/sweep/plan/tuning.h"

#include <fstream>

#include <gtest/gtest.h>

#include "tests/scratch_folder.h"

namespace gv {
namespace {

constexpr TargetSpec accuracy{.figure = TargetSpec::Figure::accuracy, .value = 0.8};

/// Returns the score of a trial with these (round, accuracy) pairs, a tenth of a second a round.
TrialScore score_of_lines(const std::vector<std::pair<int, std::string>>& lines,
                          const std::optional<TargetSpec>& target,
                          bool by_rounds,
                          const std::string& loss) {
  const ScratchFolder folder;
  {
    std::ofstream out(folder.path() + "/metrics.jsonl");
    for (const auto& [round, value] : lines)
      out << R"({"event":"evaluate","round":)" << round << R"(,"seconds":)" << round / 10.0
          << R"(,"loss":)" << loss << R"(,"accuracy":)" << value << "}\n";
    out << R"({"event":"summary"})"
        << "\n";
  }
  return score_of(folder.path(), target, by_rounds);
}

TrialScore score(const std::vector<std::pair<int, std::string>>& lines,
                 bool by_rounds = true,
                 std::uint32_t in_a_row = 1) {
  TargetSpec target = accuracy;
  target.in_a_row = in_a_row;
  return score_of_lines(lines, target, by_rounds, "1");
}

TEST(Tuning, CostIsInterpolatedAtTheTarget) {
  EXPECT_DOUBLE_EQ(score({{10, "0.6"}, {20, "0.7"}, {30, "0.9"}}).cost, 25);
  EXPECT_DOUBLE_EQ(score({{10, "0.6"}, {20, "0.7"}, {30, "0.9"}}, false).cost, 2.5);
  EXPECT_DOUBLE_EQ(score({{10, "0.85"}}).cost, 10);
  EXPECT_EQ(score({{10, "0.85"}, {20, "0.5"}, {30, "0.9"}}).cost, 10);
  EXPECT_EQ(score({{10, "0.5"}, {20, "0.7"}}).cost, TrialScore::never);
}

/// The first of two in a row counts with `for: 2`. An accuracy that falls back does not count.
TEST(Tuning, ARowOfEvaluationsCountsFromItsFirst) {
  EXPECT_EQ(score({{10, "0.85"}, {20, "0.5"}, {30, "1.1"}, {40, "0.9"}}, true, 2).cost, 25);
  EXPECT_EQ(score({{10, "0.85"}, {20, "0.5"}, {30, "0.9"}}, true, 2).cost, TrialScore::never);
}

TEST(Tuning, WhoMissesRanksBehindAndWhoDivergesLast) {
  const std::vector<TrialScore> scores{score({{10, "0.6"}}), score({{10, "0.6"}, {20, "null"}}),
                                       score({{10, "0.7"}}), score({{10, "0.5"}, {20, "0.9"}}),
                                       score({{10, "0.81"}})};
  EXPECT_EQ(ranking(scores), (std::vector<std::size_t>{4, 3, 2, 0, 1}));
}

/// The accuracy of the last line counts, or the loss if the data have no accuracy.
TEST(Tuning, WithoutATargetTheEndCounts) {
  const auto end = [](const std::string& accuracy, const std::string& loss) {
    return score_of_lines({{10, "0.9"}, {20, accuracy}}, {}, true, loss);
  };
  EXPECT_EQ(end("0.75", "3").cost, TrialScore::never);
  EXPECT_DOUBLE_EQ(end("0.75", "3").last, 0.25);
  EXPECT_TRUE(end("0.75", "3").errs);
  EXPECT_DOUBLE_EQ(end("null", "3").last, 3);
  EXPECT_FALSE(end("null", "3").errs);
  EXPECT_EQ(end("null", "null").last, TrialScore::never);
  EXPECT_EQ(ranking({end("0.7", "1"), end("0.8", "2"), end("null", "null")}),
            (std::vector<std::size_t>{1, 0, 2}));
}

TEST(Tuning, SeedsCountByTheirMedian) {
  EXPECT_EQ(median_score({{1, 0}, {9, 0}, {2, 0}}).cost, 2);
  EXPECT_EQ(median_score({{1, 0}, {4, 0}}).cost, 2.5);
  EXPECT_EQ(median_score({{1, 0}, {TrialScore::never, 0}}).cost, TrialScore::never);
}

TEST(Tuning, EdgesOfTheRangeAreNamed) {
  TuningKnob lr;
  lr.key = "train.optimizer.lr";
  const std::vector<std::vector<std::string>> tried{{}, {"0.1"}, {"0.3"}, {"0.2"}};
  const auto most = edges_of({lr}, tried, 2);
  ASSERT_EQ(most.size(), 1U);
  EXPECT_EQ(most[0].words, "lr 0.3 is the largest tried");
  EXPECT_EQ(edges_of({lr}, tried, 1).at(0).words, "lr 0.1 is the smallest tried");
  EXPECT_TRUE(edges_of({lr}, tried, 3).empty());
  EXPECT_TRUE(edges_of({lr}, tried, 0).empty());
}

/// Widens a range by half, beyond the end at which the best value lies.
TEST(Tuning, RangesAreWidenedBeyondTheirEdge) {
  TuningKnob lr;
  lr.key = "lr";
  lr.scale = TuningKnob::Scale::log;
  lr.low = 0.01;
  lr.high = 1;
  const std::vector<TuningEdge> largest{{"lr", true, ""}};
  const KnobRanges once = beyond(largest, {lr}, {});
  EXPECT_DOUBLE_EQ(once.at("lr").first, 1);
  EXPECT_DOUBLE_EQ(once.at("lr").second, 10);
  const KnobRanges twice = beyond(largest, {lr}, {once});
  EXPECT_DOUBLE_EQ(twice.at("lr").second, 100);
  lr.scale = TuningKnob::Scale::lin;
  EXPECT_DOUBLE_EQ(beyond({{"lr", false, ""}}, {lr}, {}).at("lr").first, 0.01 - 0.495);
  lr.scale = TuningKnob::Scale::list;
  EXPECT_TRUE(beyond(largest, {lr}, {}).empty());
}

}  // namespace
}  // namespace gv
