#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "peer/show/page/labels.h"
#include "peer/show/page/page_figures.h"
#include "peer/show/page/svg.h"

namespace gv {
namespace {

constexpr double width = 1060, least_left = 74, right = 14, top = 24;

struct Stroke {
  double from, to;  ///< pixels
};

using LaneStrokes = std::array<std::vector<Stroke>, n_states>;

LaneStrokes strokes_of(const TimelineLane& lane, const svg::Axis& x, double begin, double nearest) {
  LaneStrokes out;
  for (const TimelineMoment& m : lane.moments) {
    if (m.state >= n_states || !(m.end > m.begin)) continue;
    std::vector<Stroke>& strokes = out[m.state];
    const Stroke s{x.at(m.begin - begin), x.at(m.end - begin)};
    if (!strokes.empty() && s.from - strokes.back().to < nearest) {
      strokes.back().to = std::max(strokes.back().to, s.to);
    } else {
      strokes.push_back(s);
    }
  }
  return out;
}

std::vector<LaneStrokes> all_strokes(const std::vector<TimelineLane>& lanes,
                                     const svg::Axis& x,
                                     double begin) {
  std::vector<LaneStrokes> out;
  for (double nearest = 0.25;; nearest *= 2) {
    out.clear();
    std::size_t count = 0;
    for (const TimelineLane& lane : lanes) {
      out.push_back(strokes_of(lane, x, begin, nearest));
      for (const auto& strokes : out.back()) count += strokes.size();
    }
    if (count <= most_strokes || nearest > width) return out;
  }
}

double lane_height(std::size_t lanes) {
  return lanes <= 16 ? 24 : lanes <= 32 ? 14 : 9;
}

std::string state_paths(const std::vector<LaneStrokes>& lanes, double height) {
  std::string out;
  const double bar = height - (height > 12 ? 6 : 2);
  for (std::size_t state = 0; state < n_states; ++state) {
    std::string d;
    for (std::size_t k = 0; k < lanes.size(); ++k) {
      const std::string y = svg::length(top + height * static_cast<double>(k) + (height - bar) / 2);
      for (const Stroke& s : lanes[k][state])
        d += fmt::format("M{} {}H{}v{}H{}z", svg::length(s.from), y, svg::length(s.to),
                         svg::length(bar), svg::length(s.from));
    }
    if (d.empty()) continue;
    out += svg::group("one " + state_style(state),
                      fmt::format("{}: {}", state_names[state].name, state_names[state].meaning),
                      svg::path(d, "fill"));
  }
  return out;
}

/// A tick in its lane for each start of a round; above the first lane its number, if there is room.
std::string round_marks(
    const Timeline& t, std::size_t lanes, const svg::Axis& x, double begin, double height) {
  std::string d;
  std::string numbers;
  double free_from = 0;
  for (const TimelineRound& r : t.rounds) {
    if (r.lane >= lanes) continue;
    const double at = x.at(r.begin - begin);
    if (at < x.from() - 0.5 || at > x.to()) continue;
    const double y = top + height * static_cast<double>(r.lane);
    d += fmt::format("M{} {}v{}", svg::length(at), svg::length(y), svg::length(height));
    if (r.lane != 0 || at < free_from) continue;
    const std::string name = fmt::format("round {}", r.round);
    numbers += svg::text({at, top - 8}, "start", "tick", name);
    free_from = at + svg::text_width(name) + 6;
  }
  return (d.empty() ? "" : svg::path(d, "round")) + numbers;
}

std::string critical_line(
    const Timeline& t, std::size_t lanes, const svg::Axis& x, double begin, double height) {
  std::vector<svg::Point> points;
  for (const CriticalPoint& p : t.critical) {
    if (p.lane < lanes)
      points.push_back(
          {x.at(p.seconds - begin), top + height * (static_cast<double>(p.lane) + 0.5)});
  }
  if (points.size() < 2) return "";
  return svg::group("", "the critical path: what the last end waited for",
                    svg::polyline(points, "around") + svg::polyline(points, "critical"));
}

}  // namespace

svg::Range span_of(const std::vector<TimelineLane>& lanes) {
  svg::Range span;
  for (const TimelineLane& lane : lanes)
    for (const TimelineMoment& m : lane.moments)
      span = {std::min(span.low, m.begin), std::max(span.high, m.end)};
  return span;
}

std::string timeline_figure(const Timeline& t) {
  std::vector<TimelineLane> lanes = t.lanes;
  if (lanes.size() > most_lanes) lanes.resize(most_lanes);
  const auto [begin, end] = span_of(lanes);
  if (!(end > begin)) return "";
  const double height = lane_height(lanes.size());
  const double bottom = top + height * static_cast<double>(lanes.size());
  const double seconds = end - begin;
  const Unit unit = unit_for(Quantity::seconds, seconds);
  const double left = svg::room_for_names(lanes, least_left);
  const svg::Axis x(svg::Axis::Scale::linear, 0, seconds, left, width - right);
  const svg::Axis labels(svg::Axis::Scale::linear, 0, seconds / unit.size, left, width - right);
  std::string content = svg::bottom_axis(
      labels, top, bottom, fmt::format("{} since {}", unit.name, duration_text(begin)));
  content += svg::group("set", "", state_paths(all_strokes(lanes, x, begin), height));
  content += round_marks(t, lanes.size(), x, begin, height);
  content += critical_line(t, lanes.size(), x, begin, height);
  for (std::size_t k = 0; k < lanes.size(); ++k) {
    if (height < 12 && k % 2 != 0) continue;
    content +=
        svg::row_name({left, top + height * (static_cast<double>(k) + 0.5) + 4}, lanes[k].name);
  }
  return svg::image(width, bottom + 44, "what each peer did", content);
}

}  // namespace gv
