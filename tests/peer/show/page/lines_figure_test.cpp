#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <sstream>

#include <gtest/gtest.h>

#include "optim/rng.h"
#include "peer/show/page/labels.h"
#include "peer/show/page/page_figures.h"
#include "peer/show/page/svg.h"
#include "tests/peer/show/page/svg_reader.h"

namespace gv {
namespace {

using svg::Point;

/// Returns the distance of a point from the line through these points, whose x ascends.
double distance_to(const std::vector<Point>& line, Point p) {
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t k = 1; k < line.size(); ++k) {
    const Point a = line[k - 1];
    const Point b = line[k];
    const double length = std::hypot(b.x - a.x, b.y - a.y);
    const double dot = (p.x - a.x) * (b.x - a.x) + (p.y - a.y) * (b.y - a.y);
    const double along = length > 0 ? std::clamp(dot / (length * length), 0.0, 1.0) : 0;
    least = std::min(least,
                     std::hypot(a.x + along * (b.x - a.x) - p.x, a.y + along * (b.y - a.y) - p.y));
  }
  return least;
}

PlotLine noisy_line(const std::string& name, std::size_t points, double step, std::uint64_t seed) {
  Rng rng(seed);
  PlotLine line{.name = name};
  for (std::size_t k = 0; k < points; ++k) {
    line.x.push_back(step * static_cast<double>(k));
    line.y.push_back(0.9 -
                     0.8 * std::exp(-4.0 * static_cast<double>(k) / static_cast<double>(points)) +
                     0.02 * rng.uniform());
  }
  return line;
}

/// Expects the values of every line, read back with the ticks of the figure.
void expect_values_within_a_pixel(const LinePlot& plot, bool log_x, double unit) {
  const std::string figure = lines_figure(plot);
  const SvgRuler x(figure, "x", "middle", log_x);
  const SvgRuler y(figure, "y", "end", plot.log_y);
  const auto curves = of_class(elements(figure, "polyline"), "curve");
  ASSERT_EQ(curves.size(), plot.lines.size());
  for (std::size_t k = 0; k < curves.size(); ++k) {
    const std::vector<Point> drawn = points_of(curves[k]);
    for (std::size_t i = 0; i < plot.lines[k].x.size(); ++i) {
      if (log_x && plot.lines[k].x[i] <= 0) continue;
      const Point wanted{x.pixel(plot.lines[k].x[i] / unit), y.pixel(plot.lines[k].y[i])};
      ASSERT_LT(distance_to(drawn, wanted), 0.5) << plot.lines[k].name << " at " << i;
    }
  }
}

TEST(LinesFigure, ValuesAreReadBackWithinAPixel) {
  LinePlot plot{.x_title = "rounds", .y_title = "accuracy"};
  plot.lines = {noisy_line("ring", 400, 25, 1), noisy_line("all-reduce", 300, 25, 2)};
  expect_values_within_a_pixel(plot, false, 1);
  plot.x_is = Quantity::seconds;
  plot.x_title = "time";
  plot.lines[1] = noisy_line("server", 400, 300, 2);  // 12 times longer: a logarithmic axis
  expect_values_within_a_pixel(plot, true, 3600);
  plot.log_y = true;
  plot.x_is = Quantity::bytes;
  plot.lines[1] = noisy_line("server", 400, 50, 2);
  expect_values_within_a_pixel(plot, false, 1e3);
}

TEST(LinesFigure, ADotStandsWhereTheTargetIsReached) {
  LinePlot plot{.x_title = "rounds", .y_title = "accuracy", .target = 0.8};
  plot.lines = {noisy_line("ring", 100, 10, 1)};
  plot.lines[0].reached = 512;
  const std::string figure = lines_figure(plot);
  const auto dots = of_class(elements(figure, "circle"), "dot");
  ASSERT_EQ(dots.size(), 1U);
  EXPECT_NEAR(dots[0].number("cx"), SvgRuler(figure, "x", "middle", false).pixel(512), 0.5);
  EXPECT_NEAR(dots[0].number("cy"), SvgRuler(figure, "y", "end", false).pixel(0.8), 0.5);
  EXPECT_NE(figure.find("0.8 after 512"), std::string::npos);
}

TEST(LinesFigure, ABandLiesBetweenLeastAndMost) {
  PlotLine line{.name = "ring", .x = {0, 10, 20}, .y = {1, 2, 3}};
  line.low = {0.5, 1.5, std::nan("")};
  line.high = {1.5, 2.5, 3.5};
  const std::string figure =
      lines_figure({.x_title = "rounds", .y_title = "loss", .lines = {line}});
  const SvgRuler x(figure, "x", "middle", false);
  const SvgRuler y(figure, "y", "end", false);
  const auto bands = of_class(elements(figure, "path"), "band");
  ASSERT_EQ(bands.size(), 1U);
  std::istringstream in(bands[0].attributes.at("d"));
  std::vector<Point> corners;
  char letter = 0;
  for (Point p; in >> letter >> p.x >> p.y;) corners.push_back(p);
  ASSERT_EQ(corners.size(), 4U) << "where one seed has no value there is no band";
  EXPECT_NEAR(corners[0].y, y.pixel(1.5), 0.5);
  EXPECT_NEAR(corners[1].x, x.pixel(10), 0.5);
  EXPECT_NEAR(corners[2].y, y.pixel(1.5), 0.5);
  EXPECT_NEAR(corners[3].y, y.pixel(0.5), 0.5);
}

TEST(LinesFigure, WhatNobodyMeasuredIsAGap) {
  const double gap = std::nan("");
  const PlotLine line{.name = "ring", .x = {0, 1, 2, 3, 4}, .y = {1, 2, gap, 3, 2}};
  const LinePlot plot{.x_title = "rounds", .y_title = "loss", .lines = {line}};
  EXPECT_EQ(of_class(elements(lines_figure(plot), "polyline"), "curve").size(), 2U);
  EXPECT_EQ(lines_figure({.x_title = "rounds",
                          .y_title = "loss",
                          .lines = {{.name = "ring", .x = {0, 1}, .y = {gap, gap}}}}),
            "");
}

TEST(LinesFigure, OneValueAndTheSameValuesHaveAPlaceToo) {
  for (const std::vector<double>& y : {std::vector<double>{0.5}, {0.5, 0.5}, {0, 0}}) {
    std::vector<double> x(y.size());
    std::iota(x.begin(), x.end(), 0.0);
    for (const bool log_y : {false, true}) {
      LinePlot plot{.x_title = "rounds", .y_title = "loss", .log_y = log_y};
      plot.lines = {{.name = "ring", .x = x, .y = y}};
      const std::string figure = lines_figure(plot);
      EXPECT_EQ(figure.find("nan"), std::string::npos);
      EXPECT_EQ(figure.find("inf"), std::string::npos);
      EXPECT_EQ(xml_mistake(figure), "");
    }
  }
}

/// The label "dense, lock" was once cut to "dense,".
TEST(Labels, NamesThatDifferBehindACommaAreToldApart) {
  EXPECT_EQ(svg::telling_names({"dense", "dense, lock", "sparse, a", "sparse, b", "ring atc"}),
            (std::vector<std::string>{"dense", "dense, lock", "sparse, a", "sparse, b", "ring"}));
  EXPECT_EQ(svg::telling_names({"d-psgd, ring", "sgp, ring"}),
            (std::vector<std::string>{"d-psgd", "sgp"}));
}

/// A square once stood alone at the end of a line that needs no name.
TEST(LinesFigure, OneLineWithoutANameHasNoLabel) {
  LinePlot plot{.x_title = "rounds", .y_title = "loss", .lines = {noisy_line("", 5, 1, 1)}};
  EXPECT_TRUE(of_class(elements(lines_figure(plot), "rect"), "fill halo").empty());
  plot.lines[0].name = "ring";
  EXPECT_EQ(of_class(elements(lines_figure(plot), "rect"), "fill halo").size(), 1U);
}

TEST(Labels, NoNameLiesOnAnother) {
  std::vector<svg::Label> labels;
  for (int k = 0; k < 10; ++k)
    labels.push_back({{100.0 + (k % 3) * 20, 100.0 + k}, "name " + std::to_string(k), 0});
  const auto placed = svg::place_labels(labels, {}, 460, 20, 250);
  ASSERT_EQ(placed.size(), 10U);
  for (std::size_t i = 0; i < placed.size(); ++i) {
    EXPECT_TRUE(placed[i].at.y >= 20 && placed[i].at.y <= 250);
    EXPECT_LE(placed[i].at.x + svg::label_width(placed[i].text), 460);
    for (std::size_t j = 0; j < i; ++j)
      EXPECT_TRUE(std::abs(placed[i].at.y - placed[j].at.y) >= 15 ||
                  placed[i].at.x >= placed[j].at.x + svg::label_width(placed[j].text) ||
                  placed[j].at.x >= placed[i].at.x + svg::label_width(placed[i].text));
  }
}

TEST(Simplify, KeepsEveryPointWithinAQuarterPixelOfTheLine) {
  std::vector<Point> points;
  Rng rng(5);
  double y = 100;
  for (int k = 0; k < 20'000; ++k) {
    y += rng.normal() * 0.3;
    points.push_back({0.02 * k, y});
  }
  const std::vector<Point> few = svg::simplify(points);
  EXPECT_LT(few.size(), points.size() / 4);
  EXPECT_EQ(few.front().x, points.front().x);
  EXPECT_EQ(few.back().x, points.back().x);
  double worst = 0;
  for (std::size_t k = 0; k < points.size(); k += 7)
    worst = std::max(worst, distance_to(few, points[k]));
  EXPECT_LT(worst, 0.5);  // a quarter each for the strips and the lines
  EXPECT_EQ(svg::simplify({{0, 0}, {50, 0.1}, {100, 0}}).size(), 2U);
  EXPECT_EQ(svg::simplify({{0, 0}, {50, 1}, {100, 0}}).size(), 3U);
  EXPECT_TRUE(svg::simplify({}).empty());
}

}  // namespace
}  // namespace gv
