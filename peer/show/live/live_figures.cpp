#include "peer/show/live/live_figures.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "peer/show/page/svg.h"
#include "peer/show/page/svg_plot.h"

namespace gv {
namespace {

constexpr double width = 430, tall = 290, left = 74, right = 24, top = 30, bottom = 52;

/// A line of a figure; where it has no value it has a gap.
struct Line {
  std::string_view name;
  std::function<std::optional<double>(const MetricsRow&)> value;
};
struct Range {
  double low = std::numeric_limits<double>::infinity();
  double high = -low;
};

Range range_of(const std::vector<MetricsRow>& curve, const std::vector<Line>& lines) {
  Range range;
  for (const MetricsRow& row : curve) {
    for (const Line& line : lines) {
      const auto value = line.value(row);
      if (!value || !std::isfinite(*value)) continue;
      range.low = std::min(range.low, *value);
      range.high = std::max(range.high, *value);
    }
  }
  return range;
}

/// Logarithmic where values of one sign span more than a factor of 20.
svg::Axis axis_of(Range range) {
  using Scale = svg::Axis::Scale;
  if (range.low > 0 && range.high > 20 * range.low)
    return {Scale::logarithmic, range.low, range.high, tall - bottom, top};
  const double margin = range.high > range.low ? 0.04 * (range.high - range.low)
                                               : std::max(1e-3, 0.1 * std::abs(range.high));
  const double low = range.low >= 0 ? std::max(0.0, range.low - margin) : range.low - margin;
  return {Scale::linear, low, range.high + margin, tall - bottom, top};
}

std::string draw(const std::vector<MetricsRow>& curve,
                 const Line& line,
                 const svg::Axis& x,
                 const svg::Axis& y,
                 std::size_t k) {
  std::vector<svg::Point> points;
  for (const MetricsRow& row : curve) {
    const auto value = line.value(row);
    if (!value || !std::isfinite(*value)) continue;
    points.push_back({x.at(static_cast<double>(row.round)), y.at(*value)});
  }
  if (points.empty()) return "";
  return svg::polyline(points, "curve " + svg::series(k)) +
         svg::circle(points.back(), 3, "node " + svg::series(k));
}

std::string key(const Line& line, const MetricsRow& last, std::size_t k) {
  const auto value = line.value(last);
  return fmt::format("<li><span class=\"key {}\"></span>{}{}</li>",
                     svg::series(k),
                     line.name,
                     value ? fmt::format(" {:.4g}", *value) : "");
}

std::string figure(const std::vector<MetricsRow>& curve,
                   std::string_view title,
                   const std::vector<Line>& lines) {
  const Range range = range_of(curve, lines);
  if (!(range.low <= range.high)) return "";
  const double first = static_cast<double>(curve.front().round);
  const double last = static_cast<double>(curve.back().round);
  const bool from_zero = first == last || first < last / 4;
  const svg::Axis x(
      svg::Axis::Scale::linear, from_zero ? 0 : first, std::max(last, 1.0), left, width - right);
  const svg::Axis y = axis_of(range);
  std::string content = svg::axes(x, y, "round", title);
  std::string legend;
  for (std::size_t k = 0; k < lines.size(); ++k) {
    content += draw(curve, lines[k], x, y, k);
    legend += key(lines[k], curve.back(), k);
  }
  return fmt::format("<figure class=\"card\">{}<ul class=\"legend\">{}</ul></figure>\n",
                     svg::image(width, tall, fmt::format("{} over rounds", title), content),
                     legend);
}

}  // namespace

std::string live_figures(const std::vector<MetricsRow>& curve) {
  if (curve.empty()) return "<p class=\"note\">No evaluation yet.</p>\n";
  const std::vector<Line> loss{
      {"mean model", [](const MetricsRow& r) { return std::optional(r.loss); }},
      {"local models", [](const MetricsRow& r) { return std::optional(r.loss_local); }},
      {"training", [](const MetricsRow& r) { return r.train_loss; }}};
  const std::vector<Line> accuracy{
      {"mean model", [](const MetricsRow& r) { return r.accuracy; }},
      {"worst peer", [](const MetricsRow& r) { return r.accuracy_min; }},
      {"best peer", [](const MetricsRow& r) { return r.accuracy_max; }}};
  const std::vector<Line> consensus{
      {"mean squared distance to the mean model", [](const MetricsRow& r) {
         return r.consensus > 0 ? std::optional(r.consensus) : std::nullopt;
       }}};
  const std::vector<Line> returns{
      {"mean model", [](const MetricsRow& r) { return std::optional(-r.loss); }},
      {"local models", [](const MetricsRow& r) { return std::optional(-r.loss_local); }}};
  if (curve.back().frames)
    return figure(curve, "return", returns) + figure(curve, "consensus distance", consensus);
  const std::string set = set_of(curve.back());
  return figure(curve, curve.back().validated ? "validation loss" : "loss", loss) +
         figure(curve, set + " accuracy", accuracy) +
         figure(curve, "consensus distance", consensus);
}

}  // namespace gv
