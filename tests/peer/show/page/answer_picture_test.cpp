#include <algorithm>
#include <array>

#include <gtest/gtest.h>

#include "peer/record/runs/stored_run.h"
#include "peer/show/page/report/svg_file.h"
#include "tests/peer/record/runs/stored_runs.h"
#include "tests/peer/show/page/svg_reader.h"

namespace gv {
namespace {

constexpr double compute = 0.02;

/// Adds three seeds of a trial with these labels. All rounds take equally long, partly compute.
void add(std::vector<StoredRun>& runs,
         const std::map<std::string, std::string>& labels,
         const std::map<std::string, std::string>& keys,
         double seconds) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    StoredRun run = run_of(keys, seed, seconds * (1 + 0.1 * static_cast<double>(seed - 2)));
    run.labels = labels;
    run.order = run.algorithm == "d-psgd" ? "lian" : "ring";
    for (MetricsRow& e : run.evaluations) {
      e.epoch = static_cast<double>(e.round) / 10;
      e.states = ActivitySeconds{compute * 4 * static_cast<double>(e.round)};
    }
    for (const auto& [axis, label] : labels) run.path += "-" + label;
    runs.push_back(run);
  }
}

const CompareOptions half{.target = parse_target("accuracy=0.5"), .by = {}};

std::vector<StoredRun> networks() {
  std::vector<StoredRun> runs;
  for (const char* latency : {"1 ms", "10 ms", "100 ms"}) {
    const std::map<std::string, std::string> network{{"network.latency", latency}};
    const double alpha = stated_number(latency)->value;
    auto keys = network;
    keys["algorithm.kind"] = "d-psgd";
    add(runs, {{"method", "ring"}, {"network.latency", latency}}, keys, std::max(alpha, compute));
    keys["algorithm.kind"] = "all-reduce";
    add(runs, {{"method", "sums"}, {"network.latency", latency}}, keys, compute + 6 * alpha);
  }
  return runs;
}

TEST(AnswerPicture, DrawsEveryCostAgainstTheAxis) {
  const std::vector<StoredRun> runs = networks();
  const std::string svg =
      axis_picture(compare_runs(runs, half), {"network.latency", "", "time", true}, "latencies");
  EXPECT_EQ(xml_mistake(svg), "");
  EXPECT_EQ(count_of(svg, "<svg "), 2U) << "one panel in one picture";
  EXPECT_EQ(of_class(elements(svg, "circle"), "dot").size(), 6U);
  EXPECT_EQ(of_class(elements(svg, "polyline"), "curve").size(), 2U);
  EXPECT_EQ(of_class(elements(svg, "polyline"), "predicted").size(), 2U);
  EXPECT_NE(svg.find("latency, ms (logarithmic)"), std::string::npos);
  EXPECT_NE(svg.find("prefers-color-scheme: dark"), std::string::npos);
}

/// Thirteen curves once had seven names at their ends, and the others were not explained.
TEST(AnswerPicture, ManyLinesHaveALegend) {
  const auto picture = [](std::size_t methods) {
    std::vector<StoredRun> runs;
    for (std::size_t k = 0; k < methods; ++k)
      add(runs, {{"method", "m" + std::to_string(k)}},
          {{"algorithm.kind", "d-psgd"}, {"train.batch", std::to_string(k + 1)}},
          1 + 0.001 * static_cast<double>(k));
    return race_picture(compare_runs(runs, half), "many");
  };
  const std::string many = picture(13);
  EXPECT_EQ(xml_mistake(many), "");
  for (std::size_t k = 0; k < 13; ++k)
    EXPECT_NE(many.find(">m" + std::to_string(k) + "</text>"), std::string::npos) << k;
  EXPECT_EQ(of_class(elements(many, "line"), "curve s12").size(), 1U);
  EXPECT_TRUE(of_class(elements(picture(3), "line"), "curve s2").empty()) << "names are enough";
}

/// The runs follow the closed forms, so both lines coincide.
TEST(AnswerPicture, TheModelLiesOnWhatFollowsIt) {
  const std::vector<StoredRun> runs = networks();
  const Comparison whole = compare_runs(runs, half);
  for (const Contender& contender : whole.sections.front().contenders) {
    const auto modelled = modelled_round_seconds(contender);
    ASSERT_TRUE(modelled.has_value()) << contender.label;
    const double measured = contender.entries[1].cost->seconds / contender.entries[1].cost->rounds;
    EXPECT_NEAR(*modelled, measured, 1e-9) << contender.label;
  }
}

TEST(AnswerPicture, WhatHasNoClosedFormHasNoModel) {
  const auto modelled = [](const std::map<std::string, std::string>& keys) {
    std::vector<StoredRun> runs;
    add(runs, {{"method", "one"}}, keys, 1);
    const Comparison whole = compare_runs(runs, half);
    return modelled_round_seconds(whole.sections.front().contenders.front()).has_value();
  };
  EXPECT_TRUE(modelled({{"algorithm.kind", "d-psgd"}}));
  EXPECT_FALSE(modelled({{"algorithm.kind", "ad-psgd"}}));
  EXPECT_FALSE(modelled({{"algorithm.kind", "d-psgd"}, {"train.local_steps", "4"}}));
  EXPECT_FALSE(modelled({{"algorithm.kind", "d-psgd"}, {"network.shape", "per-link"}}));
  EXPECT_FALSE(modelled({{"algorithm.kind", "d-psgd"}, {"algorithm.codec", "int8"}}));
}

TEST(AnswerPicture, ASpeedUpBeginsAtOne) {
  std::vector<StoredRun> runs;
  for (const auto& [peers, seconds] : {std::pair{"1", 8.0}, {"2", 4.0}, {"16", 1.0}})
    add(runs, {{"method", "a"}, {"peers", peers}}, {{"peers", peers}}, seconds);
  const Comparison whole = compare_runs(runs, half);
  const std::string svg = axis_picture(whole, {"peers", "", "speed-up", false}, "speed-up");
  const SvgRuler y(svg, "y", "end", true);
  std::vector<double> heights;
  for (const SvgElement& dot : of_class(elements(svg, "circle"), "dot"))
    heights.push_back(dot.number("cy"));
  ASSERT_EQ(heights.size(), 3U);
  EXPECT_NEAR(heights[0], y.pixel(1), 1);
  EXPECT_NEAR(heights[1], y.pixel(2), 1);
  EXPECT_NEAR(heights[2], y.pixel(8), 1);
}

TEST(AnswerPicture, NamesWithANumberAreLinesOverIt) {
  std::vector<StoredRun> runs;
  double seconds = 1;
  for (const char* label : {"easgd-1", "easgd-16", "d-psgd-1", "d-psgd-16", "server"})
    add(runs, {{"method", label}}, {{"algorithm.kind", "easgd"}, {"x", label}}, seconds++);
  const std::string svg =
      axis_picture(compare_runs(runs, half), {"method", "steps", "time", false}, "steps");
  EXPECT_EQ(of_class(elements(svg, "polyline"), "curve").size(), 2U);
  EXPECT_EQ(of_class(elements(svg, "circle"), "dot").size(), 4U) << "server has no number";
  EXPECT_NE(svg.find("steps (logarithmic)"), std::string::npos);
}

TEST(AnswerPicture, ARaceHasAPanelForEachSection) {
  const std::vector<StoredRun> runs = networks();
  const Comparison apart = compare_runs(runs, {.target = half.target, .by = {"network.latency"}});
  EXPECT_EQ(count_of(race_picture(apart, "race"), "<svg "), 4U);
  const std::string alone = race_picture(compare_runs(runs, half), "race");
  EXPECT_EQ(count_of(alone, "<svg "), 3U) << "against time and against epochs";
  EXPECT_NE(alone.find("Accuracy against epochs"), std::string::npos);
}

TEST(AnswerPicture, TheOrderOfTheRunsChangesNothing) {
  std::vector<StoredRun> runs = networks();
  const AnswerAxes axes{"network.latency", "", "time", true};
  const std::string svg = axis_picture(compare_runs(runs, half), axes, "latencies");
  std::ranges::reverse(runs);
  EXPECT_EQ(axis_picture(compare_runs(runs, half), axes, "latencies"), svg);
}

TEST(AnswerPicture, TextsAreEscaped) {
  std::vector<StoredRun> runs;
  add(runs, {{"method", "<b>"}, {"peers", "1"}}, {{"peers", "1"}}, 1);
  add(runs, {{"method", "<b>"}, {"peers", "2"}}, {{"peers", "2"}}, 1);
  const std::string svg =
      axis_picture(compare_runs(runs, half), {"peers", "", "time", false}, "a \"title\"");
  EXPECT_EQ(svg.find("<b>"), std::string::npos);
  EXPECT_NE(svg.find("a &quot;title&quot;"), std::string::npos);
}

TEST(StatedNumber, HasUnitsAndNames) {
  EXPECT_DOUBLE_EQ(stated_number("5 ms")->value, 5e-3);
  EXPECT_EQ(stated_number("5 ms")->unit, "s");
  EXPECT_DOUBLE_EQ(stated_number("1 Gbit")->value, 1e3);
  EXPECT_EQ(stated_number("0.05")->unit, "");
  for (const char* text : {"", "ms", "5 parsecs", "nan", "1e999", "5 ms and more"})
    EXPECT_FALSE(stated_number(text).has_value()) << text;
  EXPECT_EQ(numbered_label("local-sgd-16")->name, "local-sgd");
  EXPECT_EQ(numbered_label("16")->name, "");
  for (const char* text : {"ring", "-16", "one-peer", "d-psgd-"})
    EXPECT_EQ(numbered_label(text).has_value(), std::string(text) == "-16") << text;
}

}  // namespace
}  // namespace gv
