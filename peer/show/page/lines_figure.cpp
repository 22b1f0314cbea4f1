#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "optim/mapped.h"
#include "peer/show/page/labels.h"
#include "peer/show/page/page_figures.h"
#include "peer/show/page/svg.h"

namespace gv {
namespace {

using svg::Axis;
using svg::Point;
using svg::Range;

constexpr double width = 460, tall = 300, left = 56, top = 32, bottom = 48;
constexpr std::size_t longest_name = 17;
constexpr double infinity = std::numeric_limits<double>::infinity();

/// Values outside these bounds would make an axis' range overflow or vanish.
constexpr double largest = 1e300, least_of_logarithms = 1e-300;

bool can_be_drawn(const LinePlot& plot, double y) {
  return std::abs(y) <= largest && (!plot.log_y || y >= least_of_logarithms);
}

/// The last x at which the line has a value; none if it has none.
std::optional<double> end_of(const LinePlot& plot, const PlotLine& line) {
  for (std::size_t k = line.x.size(); k > 0; --k)
    if (can_be_drawn(plot, line.y[k - 1])) return line.x[k - 1];
  return std::nullopt;
}

Axis x_axis(const LinePlot& plot, double unit, double right) {
  Range ends;
  Range starts;
  for (const PlotLine& line : plot.lines) {
    if (const auto end = end_of(plot, line)) ends.take(*end);
    for (const double x : line.x)
      if (x > 0) starts.take(x);
  }
  if (ends.high <= 0) return {Axis::Scale::linear, ends.low - 1, ends.high + 1, left, right};
  const bool wide = ends.low > 0 && (plot.log_x || ends.low < ends.high / 8);
  return wide ? Axis(Axis::Scale::logarithmic, starts.low / unit, ends.high / unit, left, right)
              : Axis(Axis::Scale::linear, 0, ends.high / unit, left, right);
}

Axis y_axis(const LinePlot& plot) {
  Range range;
  if (plot.target && can_be_drawn(plot, *plot.target)) range.take(*plot.target);
  for (const PlotLine& line : plot.lines) {
    for (const auto* values : {&line.y, &line.low, &line.high})
      for (const double y : *values)
        if (can_be_drawn(plot, y)) range.take(y);
  }
  if (plot.log_y) {
    const double room = std::pow(range.high / range.low, 0.04) * 1.02;
    return {Axis::Scale::logarithmic, range.low / room, range.high * room, tall - bottom, top};
  }
  const double span = range.high - range.low;
  const double room = span > 0 ? 0.04 * span : std::max(0.05 * std::abs(range.high), 0.05);
  return {Axis::Scale::linear, range.low - room, range.high + room, tall - bottom, top};
}

struct Plane {
  const LinePlot& plot;
  Unit unit;
  Axis x, y;

  bool holds(double at, double value) const {
    return can_be_drawn(plot, value) && (x.low() <= 0 || at >= x.low() * unit.size);
  }
  Point place(double at, double value) const { return {x.at(at / unit.size), y.at(value)}; }
};

/// The pieces of a line between its gaps.
std::vector<std::vector<Point>> pieces(const Plane& plane,
                                       const std::vector<double>& x,
                                       const std::vector<double>& y) {
  std::vector<std::vector<Point>> out(1);
  for (std::size_t k = 0; k < x.size(); ++k) {
    if (plane.holds(x[k], y[k])) {
      out.back().push_back(plane.place(x[k], y[k]));
    } else if (!out.back().empty()) {
      out.emplace_back();
    }
  }
  if (out.back().empty()) out.pop_back();
  return out;
}

/// Draws the band between the least and the most, for each x with both values.
std::string band(const Plane& plane, const PlotLine& line) {
  if (line.low.empty()) return "";
  std::vector<double> low = line.low;
  std::vector<double> high = line.high;
  for (std::size_t k = 0; k < low.size(); ++k)
    if (!can_be_drawn(plane.plot, low[k]) || !can_be_drawn(plane.plot, high[k]))
      low[k] = high[k] = infinity;
  const auto lower = pieces(plane, line.x, low);
  const auto upper = pieces(plane, line.x, high);
  std::string d;
  for (std::size_t k = 0; k < lower.size(); ++k) {
    std::vector<Point> around = svg::simplify(upper[k]);
    const std::vector<Point> back = svg::simplify(lower[k]);
    around.insert(around.end(), back.rbegin(), back.rend());
    for (std::size_t p = 0; p < around.size(); ++p)
      d += (p == 0 ? "M" : "L") + svg::place(around[p]);
    d += "Z";
  }
  return svg::path(d, "band");
}

std::string tooltip(const LinePlot& plot, const PlotLine& line) {
  std::string text = line.name;
  if (line.predicted) text += ", predicted";
  for (std::size_t k = line.x.size(); k > 0; --k) {
    if (!can_be_drawn(plot, line.y[k - 1])) continue;
    text += fmt::format(": {} {:.5g} at {}{}", plot.y_title, line.y[k - 1],
                        plot.x_is == Quantity::number ? plot.x_title + " " : "",
                        quantity_text(plot.x_is, line.x[k - 1]));
    break;
  }
  if (line.reached && plot.target)
    text += fmt::format("; {:.5g} after {}", *plot.target, quantity_text(plot.x_is, *line.reached));
  return text;
}

std::string draw_line(const Plane& plane, const PlotLine& line) {
  std::string marks = band(plane, line);
  for (const std::vector<Point>& piece : pieces(plane, line.x, line.y)) {
    const std::vector<Point> points = svg::simplify(piece);
    if (points.size() == 1) {
      marks += svg::circle(points[0], 2.5, "dot");
    } else {
      marks += svg::polyline(points, "hit");
      marks += svg::polyline(points, line.predicted ? "predicted" : "curve");
    }
  }
  if (plane.plot.points && !line.predicted)
    for (std::size_t k = 0; k < line.x.size(); ++k)
      if (plane.holds(line.x[k], line.y[k]))
        marks += svg::circle(plane.place(line.x[k], line.y[k]), 3.5, "dot");
  if (line.reached && plane.plot.target && plane.holds(*line.reached, *plane.plot.target))
    marks += svg::circle(plane.place(*line.reached, *plane.plot.target), 4.5, "dot");
  return svg::group("one " + svg::series(line.series), tooltip(plane.plot, line), marks);
}

/// Returns the names that stand at the lines' ends.
std::vector<std::string> end_names(const LinePlot& plot) {
  std::vector<std::string> names = svg::telling_names(mapped(plot.lines, &PlotLine::name));
  const std::vector<std::string> cut =
      mapped(names, [](const std::string& name) { return svg::shortened(name, longest_name); });
  // Names that are equal after the cut keep their last words as well.
  for (std::size_t k = 0; k < names.size(); ++k)
    names[k] =
        std::ranges::count(cut, cut[k]) == 1 ? cut[k] : svg::squeezed(names[k], longest_name);
  return names;
}

std::vector<svg::Label> labels_of(const Plane& plane) {
  const std::vector<std::string> names = end_names(plane.plot);
  std::vector<svg::Label> labels;
  for (std::size_t owner = 0; owner < plane.plot.lines.size(); ++owner) {
    const PlotLine& line = plane.plot.lines[owner];
    if (labels.size() == most_named_lines) break;
    if (line.predicted || names[owner].empty()) continue;
    for (std::size_t k = line.x.size(); k > 0; --k) {
      if (!plane.holds(line.x[k - 1], line.y[k - 1])) continue;
      labels.push_back({plane.place(line.x[k - 1], line.y[k - 1]), names[owner], owner});
      break;
    }
  }
  return labels;
}

/// Points along every line, a few pixels from each other.
std::vector<Point> obstacles_of(const Plane& plane) {
  constexpr double step = 5;
  std::vector<Point> out;
  for (const PlotLine& line : plane.plot.lines) {
    for (const std::vector<Point>& piece : pieces(plane, line.x, line.y)) {
      const std::vector<Point> points = svg::simplify(piece, 1);
      for (std::size_t k = 1; k < points.size(); ++k) {
        const Point a = points[k - 1];
        const Point b = points[k];
        const double parts = std::ceil(std::hypot(b.x - a.x, b.y - a.y) / step);
        for (double part = 0; part < parts; ++part)
          out.push_back({a.x + (b.x - a.x) * part / parts, a.y + (b.y - a.y) * part / parts});
      }
    }
  }
  return out;
}

/// Draws the names over all lines, so that none crosses a name.
std::string names(const Plane& plane) {
  std::string out;
  for (const svg::Label& label :
       svg::place_labels(labels_of(plane), obstacles_of(plane), width, top + 8, tall - bottom - 2))
    out += svg::group(svg::series(plane.plot.lines[label.owner].series), "", svg::draw(label));
  return svg::group("names", "", out);
}

double right_margin(const LinePlot& plot) {
  const std::vector<std::string> names = end_names(plot);
  double longest = 0;
  for (std::size_t k = 0; k < names.size(); ++k)
    if (!plot.lines[k].predicted) longest = std::max(longest, svg::label_width(names[k]));
  return std::max(16.0, longest + 9);
}

}  // namespace

Range range_of(const std::vector<PlotLine>& lines, std::vector<double> PlotLine::*values) {
  Range range;
  for (const PlotLine& line : lines)
    for (const double value : line.*values) range.take(value);
  return range;
}

std::string lines_figure(const LinePlot& plot) {
  double last = -infinity;
  for (const PlotLine& line : plot.lines)
    if (const auto end = end_of(plot, line)) last = std::max(last, *end);
  if (last == -infinity) return "";
  const Unit unit = unit_for(plot.x_is, last);
  const Plane plane{plot, unit, x_axis(plot, unit.size, width - right_margin(plot)), y_axis(plot)};
  std::string title = plot.x_title;
  if (!unit.name.empty()) title += ", " + unit.name;
  if (plane.x.low() > 0) title += " (logarithmic)";
  // With few points, their places are read: a logarithmic axis needs ticks between its decades.
  const int x_ticks = plot.log_x ? 9 : 5;
  const int y_ticks = plot.points && plot.log_y ? 9 : 6;
  std::string content = svg::axes(plane.x, plane.y, title, plot.y_title, x_ticks, y_ticks);
  if (plot.target && can_be_drawn(plot, *plot.target)) {
    const double height = plane.y.at(*plot.target);
    content += svg::line({plane.x.from(), height}, {plane.x.to(), height}, "mark");
  }
  std::string lines;
  for (const PlotLine& line : plot.lines) lines += draw_line(plane, line);
  content += svg::group("set", "", lines);
  content += names(plane);
  return svg::image(width, tall, plot.y_title + " against " + plot.x_title, content);
}

}  // namespace gv

namespace gv::svg {
namespace {

/// Keeps the first, the lowest, the highest and the last point of each strip of this width, which
/// is all that is visible of a million points. This bounds the quadratic worst case below.
std::vector<Point> thinned(const std::vector<Point>& points, double width) {
  std::vector<Point> out;
  std::size_t first = 0;
  while (first < points.size()) {
    std::size_t last = first;
    std::size_t low = first;
    std::size_t high = first;
    while (last + 1 < points.size() && points[last + 1].x - points[first].x <= width) {
      ++last;
      if (points[last].y < points[low].y) low = last;
      if (points[last].y > points[high].y) high = last;
    }
    std::vector<std::size_t> kept{first, low, high, last};
    std::ranges::sort(kept);
    kept.erase(std::unique(kept.begin(), kept.end()), kept.end());
    for (const std::size_t k : kept) out.push_back(points[k]);
    first = last + 1;
  }
  return out;
}

double distance(Point p, Point a, Point b) {
  const Point way{b.x - a.x, b.y - a.y};
  const double length = std::hypot(way.x, way.y);
  if (length == 0) return std::hypot(p.x - a.x, p.y - a.y);
  return std::abs(way.x * (a.y - p.y) - (a.x - p.x) * way.y) / length;
}

}  // namespace

std::vector<Point> simplify(const std::vector<Point>& points, double tolerance) {
  const std::vector<Point> all = thinned(points, tolerance);
  if (all.size() < 3) return all;
  std::vector<bool> stays(all.size(), false);
  stays.front() = stays.back() = true;
  std::vector<std::pair<std::size_t, std::size_t>> open{{0, all.size() - 1}};
  while (!open.empty()) {
    const auto [from, to] = open.back();
    open.pop_back();
    std::size_t furthest = from;
    double most = tolerance;
    for (std::size_t k = from + 1; k < to; ++k) {
      const double far = distance(all[k], all[from], all[to]);
      if (far > most) {
        most = far;
        furthest = k;
      }
    }
    if (furthest == from) continue;
    stays[furthest] = true;
    open.emplace_back(from, furthest);
    open.emplace_back(furthest, to);
  }
  std::vector<Point> out;
  for (std::size_t k = 0; k < all.size(); ++k)
    if (stays[k]) out.push_back(all[k]);
  return out;
}

}  // namespace gv::svg
