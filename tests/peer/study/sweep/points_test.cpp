#include <cmath>
#include <set>

#include <gtest/gtest.h>

#include "peer/study/sweep/plan/tuning.h"

namespace gv {
namespace {

TuningKnob range(TuningKnob::Scale scale, double low, double high) {
  TuningKnob knob;
  knob.key = "train.optimizer.lr";
  knob.scale = scale;
  knob.low = low;
  knob.high = high;
  return knob;
}

TuningKnob words(std::vector<std::string> list) {
  TuningKnob knob;
  knob.key = "train.batch";
  knob.words = std::move(list);
  return knob;
}

TuningSpec spec(std::size_t trials, const std::string& by, std::vector<TuningKnob> knobs) {
  return {.knobs = std::move(knobs), .trials = trials, .by = by};
}

double value_of(const SweepSet& set) {
  return std::stod(set.argument.substr(set.key.size() + 1));
}

/// Halton's paper: 1/2, 1/4, 3/4, 1/8 ... in base 2; 1/3, 2/3, 1/9 ... in base 3.
TEST(Points, AreTheHaltonSequence) {
  const std::vector<double> two{0, 0.5, 0.25, 0.75, 0.125, 0.625};
  const std::vector<double> three{0, 1.0 / 3, 2.0 / 3, 1.0 / 9, 4.0 / 9, 7.0 / 9};
  for (std::uint64_t k = 0; k < two.size(); ++k) {
    EXPECT_DOUBLE_EQ(radical_inverse(k, 2), two[k]);
    EXPECT_NEAR(radical_inverse(k, 3), three[k], 1e-15);
  }
}

TEST(Points, LogRangesAreEvenInTheLogarithm) {
  const TuningKnob knob = range(TuningKnob::Scale::log, 0.001, 0.1);
  EXPECT_EQ(value_at(knob, 0), "0.001");
  EXPECT_EQ(value_at(knob, 0.5), "0.01");
  EXPECT_EQ(value_at(knob, 1), "0.1");
  EXPECT_EQ(value_at(range(TuningKnob::Scale::lin, 1, 3), 0.25), "1.5");
  EXPECT_EQ(value_at(words({"a", "b"}), 0.49), "a");
  EXPECT_EQ(value_at(words({"a", "b"}), 0.5), "b");
}

/// Budgets are equal: a method with three knobs has no more trials than one with one.
TEST(Points, AreAsManyForEveryMethod) {
  const TuningKnob lr = range(TuningKnob::Scale::log, 0.01, 1);
  TuningKnob momentum = range(TuningKnob::Scale::lin, 0, 0.9);
  for (const std::string by : {"random", "halving", "asha"}) {
    for (const std::size_t trials : {2, 5, 12, 100}) {
      for (const auto& knobs : {std::vector{lr}, std::vector{lr, momentum, words({"8", "16"})}}) {
        const auto points = points_of(spec(trials, by, knobs), knobs);
        EXPECT_EQ(points.size(), trials) << by;
        EXPECT_TRUE(points[0].empty()) << "the first is the base file's own";
        for (std::size_t p = 1; p < points.size(); ++p) EXPECT_EQ(points[p].size(), knobs.size());
      }
    }
  }
  EXPECT_TRUE(points_of(spec(9, "random", {}), {}).empty());
}

TEST(Points, MoreTrialsExtendFewer) {
  const std::vector<TuningKnob> knobs{range(TuningKnob::Scale::log, 0.01, 1)};
  const auto few = points_of(spec(6, "random", knobs), knobs);
  const auto many = points_of(spec(20, "random", knobs), knobs);
  for (std::size_t p = 1; p < few.size(); ++p) EXPECT_EQ(few[p][0].argument, many[p][0].argument);
}

TEST(Points, AGridHasItsEndsAndAllOfAList) {
  const std::vector<TuningKnob> knobs{range(TuningKnob::Scale::lin, 0, 1), words({"8", "16"})};
  const auto points = points_of(spec(7, "grid", knobs), knobs);
  EXPECT_EQ(points.size(), 6U) << "three steps of each of two";
  std::set<std::string> seen;
  double least = 9;
  double most = -9;
  for (std::size_t p = 0; p < points.size(); ++p) {
    seen.insert(points[p][1].argument);
    least = std::min(least, value_of(points[p][0]));
    most = std::max(most, value_of(points[p][0]));
  }
  EXPECT_EQ(seen.size(), 2U);
  EXPECT_EQ(least, 0);
  EXPECT_EQ(most, 1);
}

/// The base file's own value was once a second trial of a grid value. Values came twice instead of
/// not at all, and the last of a list that filled `trials` was never tried.
TEST(Points, AGridTriesEachCombinationOnce) {
  for (const std::size_t trials : {4, 5, 8, 20}) {
    const std::vector<TuningKnob> knobs{words({"0.01", "0.03", "0.1", "0.3"})};
    const auto points = points_of(spec(trials, "grid", knobs), knobs);
    std::multiset<std::string> tried;
    for (const TuningPoint& point : points) tried.insert(point.at(0).argument);
    const std::string key = knobs[0].key + "=";
    EXPECT_EQ(tried,
              (std::multiset<std::string>{key + "0.01", key + "0.03", key + "0.1", key + "0.3"}))
        << trials;
  }
  for (const std::size_t trials : {6, 7, 24}) {
    const std::vector<TuningKnob> knobs{words({"a", "b"}), range(TuningKnob::Scale::log, 0.01, 1),
                                        words({"8", "16", "32"})};
    std::set<std::string> once;
    const auto points = points_of(spec(trials, "grid", knobs), knobs);
    for (const TuningPoint& point : points)
      EXPECT_TRUE(once.insert(point[0].argument + point[1].argument + point[2].argument).second);
    EXPECT_EQ(points.size(), trials / 6 * 6);
  }
}

/// Each rung costs about the same, and the last has all rounds.
TEST(Points, HalvingGivesAThirdThriceTheRounds) {
  const auto rungs = rungs_of(spec(27, "halving", {}), 27);
  ASSERT_EQ(rungs.size(), 4U);
  EXPECT_EQ(rungs.back().points, 1U);
  EXPECT_DOUBLE_EQ(rungs.back().fraction, 1);
  for (const TuningRung& rung : rungs)
    EXPECT_NEAR(static_cast<double>(rung.points) * rung.fraction, 1, 1e-12);
  EXPECT_EQ(rungs_of(spec(27, "random", {}), 27).size(), 1U);
  double cost = 0;
  for (const TuningRung& rung : rungs_of(spec(12, "halving", {}), 12))
    cost += static_cast<double>(rung.points) * rung.fraction;
  EXPECT_LT(cost, 0.4 * 12);
}

}  // namespace
}  // namespace gv
