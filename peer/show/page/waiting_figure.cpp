#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "peer/record/report/culprits.h"
#include "peer/show/page/labels.h"
#include "peer/show/page/page_figures.h"

namespace gv {
namespace {

using svg::Point;

constexpr double side = 420, margin = 34, matrix_left = 40, matrix_top = 40, scale_room = 44;
constexpr int n_warmths = 5;

using Pair = std::pair<std::size_t, std::size_t>;

/// Returns 1 .. n_warmths: the fifth of the largest wait in which this one lies.
int warmth(double value, double most) {
  return std::clamp(static_cast<int>(std::ceil(n_warmths * value / most)), 1, n_warmths);
}

std::string share_text(double seconds, const WaitGraph& w) {
  std::string text = duration_text(seconds);
  if (w.seconds > 0) text += fmt::format(" ({:.1f} %)", 100 * seconds / w.seconds);
  return text;
}

std::string wait_text(const Wait& wait, const WaitGraph& w) {
  const auto name = [&](std::size_t peer) { return peer_name(static_cast<PeerId>(peer), w.hosts); };
  return fmt::format("{} waits {} for {}: late {}, wire {}", name(wait.who),
                     share_text(wait.late + wait.wire, w), name(wait.whom),
                     duration_text(wait.late), duration_text(wait.wire));
}

std::vector<Point> places_of(const WaitGraph& w) {
  std::vector<Point> places = w.places;
  for (std::size_t k = places.size(); k < w.peers; ++k) places.push_back(circle_place(k, w.peers));
  return in_square(std::move(places), side, margin);
}

struct EdgeWait {
  double seconds = 0;
  std::string text;
};

std::map<Pair, EdgeWait> edges_of(const WaitGraph& w) {
  std::map<Pair, EdgeWait> edges;
  for (const Wait& wait : w.waits) {
    if (wait.who >= w.peers || wait.whom >= w.peers || wait.who == wait.whom) continue;
    EdgeWait& edge = edges[std::minmax(wait.who, wait.whom)];
    edge.seconds += wait.late + wait.wire;
    edge.text += (edge.text.empty() ? "" : "; ") + wait_text(wait, w);
  }
  return edges;
}

double largest(const std::map<Pair, EdgeWait>& edges) {
  double most = 0;
  for (const auto& [pair, edge] : edges) most = std::max(most, edge.seconds);
  return most;
}

/// The least distance between two peers.
double spacing_of(const std::vector<Point>& at) {
  double least = side;
  for (std::size_t i = 0; i < at.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      least = std::min(least, std::hypot(at[i].x - at[j].x, at[i].y - at[j].y));
  return least;
}

/// One step across the border of a torus of this spacing, instead of the long way.
double short_way(double way, double spacing) {
  return std::abs(way) <= 1.5 * spacing ? way : -std::copysign(spacing, way);
}

std::string edge_path(Point a, Point b, double spacing, bool wraps) {
  if (!wraps) return svg::stroke(a, b);
  return svg::stroke(a, b, {short_way(b.x - a.x, spacing), short_way(b.y - a.y, spacing)});
}

/// `share`: this edge's wait as a fraction of the longest; `widest`: width of that one, pixels.
std::string draw_edge(const EdgeWait& edge, const std::string& d, double share, double widest) {
  return fmt::format(
      "<g class=\"one\"><title>{}</title><path d=\"{}\" class=\"wait e{}\" "
      "stroke-width=\"{}\"/></g>\n",
      svg::escape(edge.text), d, warmth(share, 1), svg::length(1.2 + (widest - 1.2) * share));
}

/// Cells of peers x peers, or of blocks of peers.
struct Cells {
  std::size_t count = 0, block = 1;
  std::map<Pair, double> seconds;  ///< row and column; the mean of a block
  double most = 0;
};

Cells cells_of(const WaitGraph& w) {
  Cells cells;
  cells.block = (w.peers + most_matrix_cells - 1) / most_matrix_cells;
  if (cells.block == 0) return cells;
  cells.count = (w.peers + cells.block - 1) / cells.block;
  const auto in_block = static_cast<double>(cells.block * cells.block);
  for (const Wait& wait : w.waits) {
    if (wait.who >= w.peers || wait.whom >= w.peers) continue;
    cells.seconds[{wait.who / cells.block, wait.whom / cells.block}] +=
        (wait.late + wait.wire) / in_block;
  }
  for (const auto& [pair, seconds] : cells.seconds) cells.most = std::max(cells.most, seconds);
  return cells;
}

std::string cell_text(std::size_t cell, const Cells& cells, const WaitGraph& w) {
  const std::size_t first = cell * cells.block;
  if (cells.block == 1) return peer_name(static_cast<PeerId>(first), w.hosts);
  return fmt::format("peers {} to {}", first, std::min(first + cells.block, w.peers) - 1);
}

std::string matrix_labels(const Cells& cells, double cell) {
  std::string out = svg::text({matrix_left, 14}, "start", "title", "waited for");
  out += svg::text({4, matrix_top - 8}, "start", "title", "who");
  const std::size_t every = cells.count <= 16 ? 1 : 4;
  for (std::size_t k = 0; k < cells.count; k += every) {
    const std::string name = std::to_string(k * cells.block);
    const double middle = cell * (static_cast<double>(k) + 0.5);
    out += svg::text({matrix_left + middle, matrix_top - 8}, "middle", "tick", name);
    out += svg::text({matrix_left - 8, matrix_top + middle + 4}, "end", "tick", name);
  }
  return out;
}

/// The legend of the colours.
std::string warmth_scale(double most, double y) {
  std::string out;
  for (int k = 1; k <= n_warmths; ++k)
    out += svg::rect({matrix_left + 30.0 * (k - 1), y}, 30, 10, fmt::format("cell w{}", k));
  out += svg::text({matrix_left, y + 26}, "start", "tick", "0");
  return out +
         svg::text({matrix_left + 30.0 * n_warmths, y + 26}, "middle", "tick", duration_text(most));
}

}  // namespace

std::string waiting_graph(const WaitGraph& w) {
  const std::map<Pair, EdgeWait> edges = edges_of(w);
  const double most = largest(edges);
  if (w.peers > most_graph_peers || most <= 0) return "";
  const std::vector<Point> at = places_of(w);
  const double spacing = spacing_of(at);
  std::vector<std::pair<double, std::string>> lines;
  for (const auto& [pair, edge] : edges)
    lines.emplace_back(edge.seconds,
                       draw_edge(edge, edge_path(at[pair.first], at[pair.second], spacing, w.wraps),
                                 edge.seconds / most, std::clamp(0.4 * spacing, 2.0, 9.0)));
  std::ranges::stable_sort(lines, {}, [](const auto& line) { return line.first; });
  std::string set;
  for (const auto& [seconds, line] : lines) set += line;
  std::string content = svg::group("set", "", set);
  const bool numbers = w.peers <= 32;
  for (std::size_t k = 0; k < w.peers; ++k) {
    content += svg::circle(at[k], numbers ? 11 : 4, numbers ? "node named s7" : "node s7");
    if (numbers) content += svg::text({at[k].x, at[k].y + 4}, "middle", "id", std::to_string(k));
  }
  return svg::image(side, side, "waiting between peers, as a graph", content);
}

std::string waiting_matrix(const WaitGraph& w) {
  const Cells cells = cells_of(w);
  if (cells.most <= 0) return "";
  const double cell = (side - matrix_left - 8) / static_cast<double>(cells.count);
  const double inner = cell * static_cast<double>(cells.count);
  std::string content = svg::rect({matrix_left, matrix_top}, inner, inner, "cell w0");
  for (const auto& [pair, seconds] : cells.seconds) {
    const Point corner{matrix_left + cell * static_cast<double>(pair.second),
                       matrix_top + cell * static_cast<double>(pair.first)};
    content += svg::group(
        "",
        fmt::format("{} waits {} for {}{}", cell_text(pair.first, cells, w), share_text(seconds, w),
                    cell_text(pair.second, cells, w), cells.block > 1 ? ", mean of the block" : ""),
        svg::rect(corner, cell, cell, fmt::format("cell w{}", warmth(seconds, cells.most))));
  }
  content += matrix_labels(cells, cell) + warmth_scale(cells.most, matrix_top + inner + 14);
  return svg::image(side, matrix_top + inner + scale_room, "waiting between peers, as a matrix",
                    content);
}

}  // namespace gv
