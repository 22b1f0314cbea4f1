#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>

#include <fmt/format.h>

#include "graph/topologies.h"
#include "peer/show/page/page_figures.h"

namespace gv {
namespace {

using svg::Point;

constexpr double side = 260, margin = 24;
constexpr PeerId most_labels = 24;

/// Rows and columns, if the graph is drawn as a lattice; otherwise an empty shape.
LatticeShape lattice_of(const TopologySpec& spec) {
  if (spec.family->drawing != Drawing::lattice) return {};
  const LatticeShape shape = spec.parameters.shape();
  return std::min(shape.rows, shape.columns) < 2 ? LatticeShape{} : shape;
}

Point tree_place(PeerId i, PeerId n) {
  const int level = std::bit_width(i + 1) - 1;
  const int levels = std::bit_width(n);
  const double width = std::exp2(level);
  const double along = (static_cast<double>(i) + 1 - width + 0.5) / width;
  return {along, levels > 1 ? static_cast<double>(level) / (levels - 1) : 0.5};
}

Point lattice_place(PeerId i, const LatticeShape& l) {
  const double cell = 1.0 / std::max(l.rows, l.columns);
  const double row = i / l.columns - (l.rows - 1) / 2.0;
  const double column = i % l.columns - (l.columns - 1) / 2.0;
  return {0.5 + column * cell, 0.5 + row * cell};
}

Point place(const TopologySpec& spec, PeerId i, PeerId n) {
  switch (spec.family->drawing) {
    case Drawing::lattice:
      if (const LatticeShape l = lattice_of(spec); l.rows > 0) return lattice_place(i, l);
      break;
    case Drawing::tree:
      return tree_place(i, n);
    case Drawing::hub:
      if (n > 2) return i == 0 ? Point{0.5, 0.5} : circle_place(i - 1, n - 1);
      break;
    case Drawing::open_circle:
      return circle_place(i, n + std::max<PeerId>(1, n / 8));
    case Drawing::circle:
      break;
  }
  return circle_place(i, n);
}

/// Makes the nodes as large as their neighbours in a lattice allow.
double node_radius(PeerId n, const LatticeShape& l) {
  const double usual = n <= most_labels ? 9 : n <= 64 ? 4 : 2.5;
  const double cell = (side - 2 * margin) / std::max({l.rows, l.columns, PeerId{1}});
  return l.rows > 0 ? std::min(usual, 0.4 * cell) : usual;
}

/// The shorter way from one lattice coordinate to another on a ring of `length`.
int short_way(PeerId from, PeerId to, PeerId length) {
  const int way = static_cast<int>(to) - static_cast<int>(from);
  if (std::abs(way) <= 1) return way;
  return way > 0 ? way - static_cast<int>(length) : way + static_cast<int>(length);
}

/// A straight line, or two half lines if the edge crosses the border.
std::string lattice_edge(Edge e, const LatticeShape& l, Point a, Point b) {
  const int down = short_way(e.first / l.columns, e.second / l.columns, l.rows);
  const int right = short_way(e.first % l.columns, e.second % l.columns, l.columns);
  const double cell = (side - 2 * margin) / std::max(l.rows, l.columns);
  return svg::stroke(a, b, {right * cell, down * cell});
}

/// A triangle that ends at the rim of the receiving peer.
std::string arrow_head(Point from, Point to, double radius) {
  const double distance = std::hypot(to.x - from.x, to.y - from.y);
  if (distance <= radius) return "";
  const Point u{(to.x - from.x) / distance, (to.y - from.y) / distance};
  const Point tip{to.x - radius * u.x, to.y - radius * u.y};
  const Point base{tip.x - 7 * u.x, tip.y - 7 * u.y};
  return svg::stroke(tip, {base.x - 3 * u.y, base.y + 3 * u.x}) + "L" +
         svg::place({base.x + 3 * u.y, base.y - 3 * u.x}) + "Z";
}

std::string edge_paths(const Topology& t,
                       const LatticeShape& lattice,
                       const std::vector<Point>& at,
                       double radius) {
  std::string lines;
  std::string heads;
  for (const Edge& e : t.edges()) {
    const Point a = at[e.first];
    const Point b = at[e.second];
    lines += lattice.rows > 0 ? lattice_edge(e, lattice, a, b) : svg::stroke(a, b);
    if (t.directed && t.size() <= most_labels) heads += arrow_head(a, b, radius);
  }
  return svg::path(lines, "edge") + (heads.empty() ? "" : svg::path(heads, "head"));
}

}  // namespace

Point circle_place(std::size_t k, std::size_t n) {
  const double angle =
      2 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(n) - std::numbers::pi / 2;
  return {0.5 + 0.5 * std::cos(angle), 0.5 + 0.5 * std::sin(angle)};
}

std::vector<Point> in_square(std::vector<Point> places, double side, double margin) {
  const double inner = side - 2 * margin;
  for (Point& p : places) p = {margin + inner * p.x, margin + inner * p.y};
  return places;
}

std::vector<Point> layout(const TopologySpec& spec, PeerId n) {
  std::vector<Point> places;
  for (PeerId i = 0; i < n; ++i) places.push_back(place(spec, i, n));
  return places;
}

std::string topology_figure(const Topology& t, std::size_t series) {
  const std::string label = "graph of " + t.name;
  if (t.size() > most_drawn_peers) {
    return svg::image(side, side / 3, label,
                      svg::text({side / 2, side / 6}, "middle", "tick",
                                fmt::format("{} peers: too many to draw", t.size())));
  }
  const TopologySpec spec = spec_of_name(t).value_or(TopologySpec{});
  const std::vector<Point> at = in_square(layout(spec, t.size()), side, margin);
  const bool labels = t.size() <= most_labels;
  const double radius = node_radius(t.size(), lattice_of(spec));
  std::string content = edge_paths(t, lattice_of(spec), at, radius);
  for (PeerId i = 0; i < t.size(); ++i) {
    content += svg::circle(at[i], radius, (labels ? "node named " : "node ") + svg::series(series));
    if (labels) content += svg::text({at[i].x, at[i].y + 3.5}, "middle", "id", std::to_string(i));
  }
  return svg::image(side, side, label, content);
}

}  // namespace gv
