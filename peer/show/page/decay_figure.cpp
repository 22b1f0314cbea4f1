#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "graph/predict/rates/mixing_rates.h"
#include "peer/show/page/page_figures.h"
#include "peer/show/page/svg.h"

namespace gv {
namespace {

constexpr double width = 860, tall = 380, left = 70, right = 24, top = 34, bottom = 52;
constexpr double lowest = 1e-4;      ///< bottom of the y axis
constexpr double most_rounds = 1e9;  ///< most rounds on the x axis, even if a graph needs more
constexpr std::size_t n_points = 160;

/// Returns the figure's last round: 5 % more than the slowest graph that converges needs.
double last_round(const std::vector<GraphRow>& rows) {
  double last = 8;
  for (const GraphRow& row : rows) {
    const double rounds = rounds_to_thousandth(row.spectrum);
    if (std::isfinite(rounds)) last = std::max(last, std::ceil(1.05 * rounds));
  }
  return std::min(last, most_rounds);
}

svg::Axis rounds_axis(const std::vector<GraphRow>& rows) {
  double fastest = std::numeric_limits<double>::infinity();
  for (const GraphRow& row : rows) fastest = std::min(fastest, rounds_to_thousandth(row.spectrum));
  const double last = last_round(rows);
  const bool wide = last > 12 * std::max(fastest, 4.0);
  return wide ? svg::Axis(svg::Axis::Scale::logarithmic, 1, last, left, width - right)
              : svg::Axis(svg::Axis::Scale::linear, 0, last, left, width - right);
}

/// Whole rounds, evenly over the axis.
std::vector<double> sampled_rounds(const svg::Axis& x) {
  std::vector<double> rounds;
  const bool logarithmic = x.low() > 0;
  for (std::size_t k = 0; k <= n_points; ++k) {
    const double share = static_cast<double>(k) / n_points;
    const double round = logarithmic ? std::pow(x.high(), share) : share * x.high();
    if (rounds.empty() || std::round(round) > rounds.back()) rounds.push_back(std::round(round));
  }
  return rounds;
}

/// The line ends at the figure's lower border, interpolated between two rounds.
std::vector<svg::Point> curve(const GraphRow& row,
                              const std::vector<double>& rounds,
                              const svg::Axis& x,
                              const svg::Axis& y) {
  std::vector<svg::Point> points;
  double before = 1;
  for (const double round : rounds) {
    const double value = std::max(disagreement_left(row, round), 1e-30);
    if (value >= lowest) {
      points.push_back({x.at(round), y.at(value)});
      before = value;
      continue;
    }
    const double share = std::log(before / lowest) / std::log(before / value);
    if (points.empty()) points.push_back({x.from(), y.at(1)});
    const double from = points.back().x;
    points.push_back({from + share * (x.at(round) - from), y.at(lowest)});
    break;
  }
  return points;
}

/// Marks the round with the worst start at a thousandth. Circles at one place are concentric.
std::string circles(const std::vector<GraphRow>& rows, const svg::Axis& x, double height) {
  std::string out;
  std::vector<double> places;
  for (std::size_t k = 0; k < rows.size(); ++k) {
    const double needed = rounds_to_thousandth(rows[k].spectrum);
    if (needed > x.high()) continue;
    const double at = x.at(needed);
    const auto near = [at](double other) { return std::abs(other - at) < 2; };
    const double radius = 4.5 + 3 * static_cast<double>(std::ranges::count_if(places, near));
    out += svg::circle({at, height}, radius, "target " + svg::series(k));
    places.push_back(at);
  }
  return out;
}

}  // namespace

double disagreement_left(const GraphRow& row, double round) {
  if (!row.modes) return std::pow(row.spectrum.slem, round);
  const double start = disagreement_after(*row.modes, 0).value;
  if (start <= 0) return 0;
  return std::sqrt(disagreement_after(*row.modes, static_cast<std::uint64_t>(round)).value / start);
}

std::string decay_figure(const std::vector<GraphRow>& rows) {
  const svg::Axis x = rounds_axis(rows);
  const svg::Axis y(svg::Axis::Scale::logarithmic, lowest, 1, tall - bottom, top);
  std::string content =
      svg::axes(x, y, x.low() > 0 ? "rounds of averaging (logarithmic)" : "rounds of averaging",
                "disagreement left");
  content += svg::line({x.from(), y.at(1e-3)}, {x.to(), y.at(1e-3)}, "mark");
  const std::vector<double> rounds = sampled_rounds(x);
  std::vector<std::string> lines;
  for (std::size_t k = 0; k < rows.size(); ++k) {
    const std::vector<svg::Point> points = curve(rows[k], rounds, x, y);
    lines.push_back(svg::polyline(points, ""));
    const auto twins = std::ranges::count(lines, lines.back()) - 1;
    const std::string style = svg::series(k);
    content += svg::group("",
                          fmt::format("{}: rounds to a thousandth: {}", rows[k].topology.name,
                                      rounds_cell(rows[k].spectrum)),
                          svg::polyline(points, (twins > 0 ? "curve twin " : "curve ") + style) +
                              svg::polyline(points, "hit"));
  }
  content += circles(rows, x, y.at(1e-3));
  return svg::image(width, tall, "disagreement left over rounds of averaging", content);
}

}  // namespace gv
