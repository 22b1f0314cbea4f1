#include <cmath>

#include <gtest/gtest.h>

#include "peer/show/page/labels.h"
#include "peer/show/page/page_figures.h"
#include "peer/show/page/report_page.h"
#include "tests/peer/show/page/svg_reader.h"

namespace gv {
namespace {

SharesRow shares_row(const std::string& name, double compute, double late, double wire) {
  return {
      .name = name, .seconds = {compute, 0.001, 0, late, wire, 0, 0, 0.002}, .hidden_wire = 0.02};
}

TEST(SharesFigure, SegmentsAreAsLongAsTheirSeconds) {
  const std::vector<SharesRow> rows{shares_row("ring", 0.05, 0.002, 0.12),
                                    shares_row("all-reduce", 0.05, 0, 0.2)};
  const std::string figure = shares_figure(rows, "a round");
  EXPECT_EQ(xml_mistake(figure), "");
  const SvgRuler x(figure, "x", "middle", false);
  const auto boxes = of_class(elements(figure, "rect"), "fill");
  ASSERT_EQ(boxes.size(), 9U);  // two rows of five states, less one that takes no time
  const double pixels = x.pixel(1) - x.pixel(0);  // pixels of a millisecond
  EXPECT_NEAR(boxes[0].number("x"), x.pixel(0), 0.5);
  EXPECT_NEAR(boxes[0].number("width"), 50 * pixels, 0.5);
  EXPECT_NEAR(boxes[1].number("width"), 50 * pixels, 0.5);
  EXPECT_NEAR(boxes[5].number("x"), x.pixel(53), 0.5);  // wire of the first row
  EXPECT_NEAR(boxes[5].number("width"), 120 * pixels, 0.5);
  const auto hidden = of_class(elements(figure, "rect"), "hidden");
  ASSERT_EQ(hidden.size(), 2U);
  EXPECT_NEAR(hidden[0].number("width"), 20 * pixels, 0.5);
  EXPECT_NE(figure.find("ring: wire 120 ms, 68.6 %"), std::string::npos);
  EXPECT_EQ(shares_figure({{.name = "nothing"}}, "a round"), "");
}

TEST(SharesFigure, SaysWhatItLeavesOut) {
  const std::vector<SharesRow> rows(70, shares_row("peer", 0.05, 0.002, 0.12));
  EXPECT_NE(shares_figure(rows, "a round").find("and 6 more"), std::string::npos);
}

Timeline two_lanes() {
  Timeline t;
  t.lanes = {{"peer 0", {{0, 1, 1.2}, {3, 1.2, 1.5}, {0, 1.5, 1.7}}},
             {"peer 1", {{0, 1, 1.5}, {4, 1.5, 1.6}}}};
  t.rounds = {{0, 64, 1}, {0, 65, 1.5}, {1, 64, 1}};
  t.critical = {{1, 1}, {1, 1.5}, {0, 1.5}, {0, 1.7}};
  return t;
}

/// Returns x and width of every box in a path of boxes.
std::vector<std::pair<double, double>> boxes_of(const SvgElement& path) {
  std::vector<std::pair<double, double>> out;
  const std::string& d = path.attributes.at("d");
  for (auto at = d.find('M'); at != std::string::npos; at = d.find('M', at + 1)) {
    const double from = std::stod(d.substr(at + 1));
    out.emplace_back(from, std::stod(d.substr(d.find('H', at) + 1)) - from);
  }
  return out;
}

TEST(TimelineFigure, EachMomentIsABoxWhereItWas) {
  const std::string figure = timeline_figure(two_lanes());
  EXPECT_EQ(xml_mistake(figure), "");
  const SvgRuler x(figure, "x", "middle", false);
  const auto paths = of_class(elements(figure, "path"), "fill");
  ASSERT_EQ(paths.size(), 3U) << "one path per state";
  const auto compute = boxes_of(paths[0]);
  ASSERT_EQ(compute.size(), 3U);
  EXPECT_NEAR(compute[0].first, x.pixel(0), 0.5);
  EXPECT_NEAR(compute[1].first, x.pixel(500), 0.5);  // the clock begins with the first moment
  EXPECT_NEAR(compute[2].second, x.pixel(500) - x.pixel(0), 0.5);
  EXPECT_NEAR(boxes_of(paths[1])[0].second, x.pixel(300) - x.pixel(0), 0.5);
  const auto critical = points_of(of_class(elements(figure, "polyline"), "critical").at(0));
  ASSERT_EQ(critical.size(), 4U);
  EXPECT_NEAR(critical[3].x, x.pixel(700), 0.5);
  EXPECT_NE(figure.find("round 65"), std::string::npos);
  EXPECT_EQ(timeline_figure({}), "");
}

TEST(TimelineFigure, StaysSmallWhateverItIsGiven) {
  Timeline t;
  for (int peer = 0; peer < 100; ++peer) {
    TimelineLane lane{"peer " + std::to_string(peer), {}};
    for (int k = 0; k < 4000; ++k)
      lane.moments.push_back({static_cast<std::size_t>(k % 8), 0.01 * k, 0.01 * (k + 1)});
    t.lanes.push_back(lane);
  }
  EXPECT_LT(timeline_figure(t).size(), 300'000U);
}

TEST(WaitingFigure, WidthAndWarmthGrowWithTheWait) {
  WaitGraph w{.peers = 4, .seconds = 100};
  w.waits = {{0, 1, 30, 10}, {1, 0, 10, 0}, {1, 2, 4, 1}, {9, 0, 99, 0}};  // there is no peer 9
  const std::string graph = waiting_graph(w);
  EXPECT_EQ(xml_mistake(graph), "");
  const auto edges = elements(graph, "path");
  ASSERT_EQ(edges.size(), 2U);  // the lightest first, so that the heaviest lies on top
  EXPECT_EQ(edges[0].css(), "wait e1");
  EXPECT_NEAR(edges[0].number("stroke-width"), 1.2 + 7.8 * 5 / 50, 0.01);
  EXPECT_EQ(edges[1].css(), "wait e5");
  EXPECT_NEAR(edges[1].number("stroke-width"), 9, 0.01);
  EXPECT_NE(graph.find("peer 0 waits 40.0 s (40.0 %) for peer 1: late 30.0 s, wire 10.0 s"),
            std::string::npos);
}

/// A line across for half the way round would lie on the edges in between.
TEST(WaitingFigure, ATorusIsLeftInHalfEdges) {
  WaitGraph w{.peers = 16, .seconds = 100};
  for (std::size_t k = 0; k < 16; ++k)
    w.places.push_back({0.25 * static_cast<double>(k % 4), 0.25 * static_cast<double>(k / 4)});
  w.waits = {{0, 1, 1, 0}, {0, 3, 1, 0}};
  EXPECT_EQ(count_of(waiting_graph(w), "M"), 2U);
  w.wraps = true;
  EXPECT_EQ(count_of(waiting_graph(w), "M"), 3U);
}

TEST(WaitingFigure, RowsWaitForColumns) {
  WaitGraph w{.peers = 4, .seconds = 100};
  w.waits = {{0, 1, 30, 10}, {2, 3, 4, 1}};
  const std::string matrix = waiting_matrix(w);
  EXPECT_EQ(xml_mistake(matrix), "");
  const SvgElement hot = of_class(elements(matrix, "rect"), "cell w5").at(0);
  const SvgElement cool = of_class(elements(matrix, "rect"), "cell w1").at(0);
  const double cell = hot.number("width");
  EXPECT_NEAR(cool.number("x") - hot.number("x"), 2 * cell, 0.1);
  EXPECT_NEAR(cool.number("y") - hot.number("y"), 2 * cell, 0.1);
  EXPECT_EQ(waiting_matrix({.peers = 4}), "");
  EXPECT_EQ(waiting_graph({.peers = 4}), "");
}

TEST(WaitingFigure, ManyPeersShareCells) {
  WaitGraph w{.peers = 1000, .seconds = 1};
  for (std::size_t k = 0; k < 1000; ++k) w.waits.push_back({k, (k + 1) % 1000, 0.5, 0});
  EXPECT_EQ(waiting_graph(w), "");
  const std::string matrix = waiting_matrix(w);
  EXPECT_LT(matrix.size(), 40'000U);
  EXPECT_NE(matrix.find("peers 0 to 31"), std::string::npos);
  EXPECT_NE(matrix.find("peers 992 to 999"), std::string::npos);
}

/// If two trials need equal rounds, the better end gets the ring. The first once got it.
TEST(TuningFigure, OfEqualTrialsTheOneThatEndsBetterIsRinged) {
  Tuning t{"d-psgd", "lr", "rounds", {{0.01, 50, "a", 0.3}, {0.1, 50, "b", 0.2}, {1, 70, "c", 0}}};
  const std::string figure = tuning_figure(t);
  const SvgRuler x(figure, "x", "middle", true);
  EXPECT_NEAR(of_class(elements(figure, "circle"), "target").at(0).number("cx"), x.pixel(0.1), 0.5);
  std::swap(t.trials[0].then, t.trials[1].then);
  EXPECT_EQ(best_at_edge(t), EdgeOfRange::least) << "the one inside is as soon, but ends worse";
}

TEST(TuningFigure, TheBestIsRingedAndAnEdgeIsMarked) {
  Tuning t{"d-psgd", "lr", "rounds", {{0.01, 900, "a"}, {0.1, 500, "b"}, {1, 700, "c"}}};
  EXPECT_EQ(best_at_edge(t), EdgeOfRange::none);
  std::string figure = tuning_figure(t);
  const SvgRuler x(figure, "x", "middle", true);
  const SvgRuler y(figure, "y", "end", false);
  const SvgElement ring = of_class(elements(figure, "circle"), "target").at(0);
  EXPECT_NEAR(ring.number("cx"), x.pixel(0.1), 0.5);
  EXPECT_NEAR(ring.number("cy"), y.pixel(500), 0.5);
  EXPECT_EQ(figure.find("edge-of-range"), std::string::npos);
  t.trials[2].score = 400;
  EXPECT_EQ(best_at_edge(t), EdgeOfRange::most);
  figure = tuning_figure(t);
  EXPECT_NE(figure.find("edge-of-range"), std::string::npos);
  EXPECT_NE(figure.find("the best is the largest tried"), std::string::npos);
  t.trials[1].score = 400;
  EXPECT_EQ(best_at_edge(t), EdgeOfRange::none) << "one inside is as good";
  t.trials[2].score.reset();
  figure = tuning_figure(t);
  EXPECT_EQ(of_class(elements(figure, "path"), "missed").size(), 1U);
  EXPECT_EQ(of_class(elements(figure, "circle"), "dot").size(), 2U);
  EXPECT_EQ(tuning_figure({"d-psgd", "lr", "rounds", {}}), "");
}

TEST(RatioFigure, DotsStandAtMeasuredOverPredicted) {
  const std::string figure = ratio_figure({{"seconds a round", Quantity::seconds, 0.1, 0.125},
                                           {"consensus", Quantity::number, 0.001, 0.005},
                                           {"unknown", Quantity::number, 0, 1}});
  EXPECT_EQ(xml_mistake(figure), "");
  const SvgRuler x(figure, "x", "middle", true);
  const auto dots = of_class(elements(figure, "circle"), "dot");
  ASSERT_EQ(dots.size(), 1U) << "the other one is outside the scale";
  EXPECT_NEAR(dots[0].number("cx"), x.pixel(1.25), 0.5);
  EXPECT_NE(figure.find("predicted 100 ms, measured 125 ms"), std::string::npos);
  EXPECT_NE(figure.find("5 times"), std::string::npos);
  EXPECT_EQ(ratio_figure({}), "");
}

TEST(FleetDiff, SplitsWhatDiffersFromWhatIsCommon) {
  const std::string diff = fleet_diff({{"ring", 0, {{"peers", "8"}, {"topology", "ring"}}},
                                       {"all", 1, {{"peers", "8"}, {"algorithm", "<all>"}}}});
  EXPECT_EQ(xml_mistake(diff), "");
  const std::string table = diff.substr(0, diff.find("<details"));
  EXPECT_NE(table.find("<td>topology</td><td>ring</td><td>-</td>"), std::string::npos);
  EXPECT_NE(table.find("<td>algorithm</td><td>-</td><td>&lt;all&gt;</td>"), std::string::npos);
  EXPECT_EQ(table.find("peers"), std::string::npos);
  EXPECT_NE(diff.find("<pre>peers: 8"), std::string::npos);
  EXPECT_EQ(fleet_diff({}), "");
}

/// Names come from files of other users.
TEST(Figures, NothingFromAFileIsBelieved) {
  const std::string bad = "a<b>&\"c\"\x1b[2J\xff\x80";
  std::string page = lines_figure(
      {.x_title = "rounds", .y_title = bad, .lines = {{.name = bad, .x = {0, 1}, .y = {1, 2}}}});
  page += shares_figure({{.name = bad, .seconds = {1}}}, bad);
  page += timeline_figure({.lanes = {{bad, {{0, 0, 1}, {99, 1, 2}}}}});
  page += tuning_figure({bad, bad, bad, {{1, 2, bad}}});
  page += ratio_figure({{bad, Quantity::number, 1, 1}});
  page += fleet_diff({{bad, 0, {{bad, bad}}}});
  page += figure_html({.title = bad, .note = bad, .numbers = {{bad}, {{bad}}}});
  page = page_around(bad, page);
  EXPECT_EQ(xml_mistake(page), "");
  EXPECT_NE(page.find("a&lt;b&gt;&amp;&quot;c&quot;?[2J??"), std::string::npos);
}

TEST(Svg, ShortenedCountsCharacters) {
  EXPECT_EQ(svg::shortened("äöü", 3), "äöü");
  EXPECT_EQ(svg::shortened("äöüß", 3), "äö…");
  EXPECT_EQ(svg::shortened("", 3), "");
  EXPECT_EQ(svg::squeezed("äöüß", 4), "äöüß");
  EXPECT_EQ(svg::squeezed("d-psgd ring lr 0.01", 9), "d-ps…0.01");
}

TEST(Unit, ValuesAreShort) {
  EXPECT_EQ(unit_for(Quantity::seconds, 0.4).name, "ms");
  EXPECT_EQ(unit_for(Quantity::seconds, 84).name, "s");
  EXPECT_EQ(unit_for(Quantity::seconds, 1300).name, "min");
  EXPECT_EQ(unit_for(Quantity::bytes, 7.9e9).name, "GB");
  EXPECT_EQ(unit_for(Quantity::number, 7.9e9).size, 1);
  EXPECT_EQ(quantity_text(Quantity::number, std::nan("")), "-");
}

}  // namespace
}  // namespace gv
