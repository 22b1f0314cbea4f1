#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "peer/show/page/labels.h"
#include "peer/show/page/page_figures.h"
#include "peer/show/page/svg.h"
#include "peer/study/compare/first_map.h"

namespace gv {
namespace {

constexpr double left = 70, top = 8, cell_width = 42, cell_height = 27, right = 12, below = 60;
constexpr double legend_line = 20;

double across(const FirstMap& map) {
  return left + cell_width * static_cast<double>(map.bandwidths.size()) + right;
}

double down(const FirstMap& map) {
  return top + cell_height * static_cast<double>(map.latencies.size());
}

/// The number and its unit on two lines: there is little room.
std::string column_names(const FirstMap& map) {
  std::string out;
  for (std::size_t k = 0; k < map.bandwidths.size(); ++k) {
    const std::string whole = bandwidth_text(map.bandwidths[k]);
    const std::size_t space = std::min(whole.find(' '), whole.size());
    const double x = left + cell_width * (static_cast<double>(k) + 0.5);
    out += svg::text({x, down(map) + 15}, "middle", "tick", whole.substr(0, space));
    out += svg::text({x, down(map) + 29}, "middle", "tick", whole.substr(space));
  }
  return out;
}

std::string row_names(const FirstMap& map) {
  std::string out;
  for (std::size_t i = 0; i < map.latencies.size(); ++i)
    out += svg::text({left - 8, top + cell_height * (static_cast<double>(i) + 0.5) + 4},
                     "end",
                     "tick",
                     latency_text(map.latencies[i]));
  return out;
}

/// Strokes from corner to corner, four to a cell.
std::string hatching(svg::Point corner) {
  std::string d;
  for (int k = 1; k < 8; k += 2) {
    const double along = k * 0.125;
    const double x = corner.x + cell_width * std::min(1.0, 2 * along);
    const double y = corner.y + cell_height * std::max(0.0, 2 * along - 1);
    const double x2 = corner.x + cell_width * std::max(0.0, 2 * along - 1);
    const double y2 = corner.y + cell_height * std::min(1.0, 2 * along);
    d += fmt::format(
        "M{} {}L{} {}", svg::length(x), svg::length(y), svg::length(x2), svg::length(y2));
  }
  return svg::path(d, "map-hatch");
}

std::string tooltip(const FirstMap& map, const MapCell& cell) {
  std::string text =
      fmt::format("{}, {}", latency_text(cell.at.latency), bandwidth_text(cell.at.bandwidth));
  for (std::size_t m = 0; m < map.methods.size(); ++m)
    text += fmt::format(
        "\n{}: {}",
        map.methods[m].label,
        cell.seconds[m] ? quantity_text(Quantity::seconds, *cell.seconds[m]) : "not trained here");
  return text;
}

std::string cells(const FirstMap& map, const std::vector<char>& letters) {
  std::string out;
  for (std::size_t i = 0; i < map.latencies.size(); ++i)
    for (std::size_t k = 0; k < map.bandwidths.size(); ++k) {
      const MapCell& cell = map.cell(i, k);
      const svg::Point corner{left + cell_width * static_cast<double>(k),
                              top + cell_height * static_cast<double>(i)};
      std::string drawn = svg::rect(corner, cell_width, cell_height, "map-cell");
      if (!cell.whole) drawn += hatching(corner);
      std::string words(1, letters[cell.first]);
      if (cell.close) words += std::string("=") + letters[*cell.close];
      drawn += svg::text({corner.x + cell_width / 2, corner.y + cell_height / 2 + 4.5},
                         "middle",
                         "map-letter",
                         words);
      out += svg::group("one " + svg::series(cell.first) + (cell.close ? " map-close" : ""),
                        tooltip(map, cell),
                        drawn);
    }
  return out;
}

/// Places a value on the axis by ratio; a value beyond the axis is placed at its border.
double at_axis(const std::vector<double>& axis, double value, double from, double step) {
  const double ratio = std::log(axis.back() / axis.front());
  const double inside = std::clamp(value, axis.front(), axis.back());
  const auto steps = static_cast<double>(axis.size() - 1);
  return from + step * (0.5 + steps * std::log(inside / axis.front()) / ratio);
}

std::string rings(const FirstMap& map) {
  std::string out;
  for (const MapPlace& run : map.runs) {
    const svg::Point at{at_axis(map.bandwidths, run.bandwidth, left, cell_width),
                        at_axis(map.latencies, run.latency, top, cell_height)};
    out += svg::group(
        "map-run",
        fmt::format("runs on {}, {}", latency_text(run.latency), bandwidth_text(run.bandwidth)),
        svg::circle(at, 11, "map-around") + svg::circle(at, 11, "map-ring"));
  }
  return out;
}

std::string legend(const FirstMap& map, const std::vector<char>& letters) {
  std::string out;
  const double first = down(map) + below + 16;
  for (std::size_t m = 0; m < map.methods.size(); ++m) {
    const double y = first + legend_line * static_cast<double>(m);
    const std::string key =
        svg::rect({left, y - 12}, 18, 15, "map-cell") +
        svg::text({left + 9, y}, "middle", "map-letter", std::string(1, letters[m]));
    out += svg::group(svg::series(m), "", key);
    out += svg::text({left + 26, y},
                     "start",
                     "",
                     fmt::format("{}  ({:.0f} rounds)",
                                 svg::shortened(map.methods[m].label, 44),
                                 map.methods[m].rounds));
  }
  return out;
}

DataTable numbers_of(const FirstMap& map) {
  DataTable table{{"latency", "bandwidth"}, {}};
  for (const MapMethod& method : map.methods) table.heads.push_back(method.label);
  table.heads.emplace_back("first");
  for (const MapCell& cell : map.cells) {
    std::vector<std::string> row{latency_text(cell.at.latency), bandwidth_text(cell.at.bandwidth)};
    for (const auto& seconds : cell.seconds)
      row.push_back(seconds ? quantity_text(Quantity::seconds, *seconds) : "-");
    row.push_back(map.methods[cell.first].label);
    table.rows.push_back(std::move(row));
  }
  return table;
}

}  // namespace

std::string map_picture(const FirstMap& map) {
  const std::vector<char> letters = map_letters(map.methods);
  const double height =
      down(map) + below + 8 + legend_line * static_cast<double>(map.methods.size());
  std::string out = row_names(map) + column_names(map);
  out += svg::text({left + (across(map) - right - left) / 2, down(map) + 45},
                   "middle",
                   "title",
                   "bandwidth, bit/s (logarithmic); latency beside it, one way");
  out += svg::group("set", "", cells(map, letters)) + rings(map) + legend(map, letters);
  return svg::image(across(map), height, "which method is first on which network", out);
}

Figure map_figure(const FirstMap& map) {
  std::string note = map.about + ". Rounds as measured, seconds of each by the method's clock.";
  if (!map.runs.empty()) note += " Rings: networks of the runs.";
  if (std::ranges::any_of(map.cells, [](const MapCell& c) { return c.close.has_value(); }))
    note += " Two letters: within 5 % of each other.";
  if (!std::ranges::all_of(map.cells, &MapCell::whole))
    note += " Hatched: an asynchronous method was not trained there.";
  return {.title = map.name.empty() ? "First to the target" : map.name,
          .note = note,
          .picture = map_picture(map),
          .numbers = numbers_of(map)};
}

}  // namespace gv
