#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "peer/show/page/page_figures.h"
#include "peer/show/page/svg.h"

namespace gv {
namespace {

using svg::Axis;

constexpr double width = 460, tall = 272, left = 56, right = 20, top = 60, bottom = 48;
constexpr double missed_y = top - 8;

/// Returns whether a trial is drawn as a dot, not as a cross.
bool arrived(const TuningTrial& trial) {
  return trial.score && std::isfinite(*trial.score);
}

svg::Range knob_values(const Tuning& t) {
  svg::Range values;
  for (const TuningTrial& trial : t.trials) values.take(trial.value);
  return values;
}

svg::Range scores(const Tuning& t) {
  svg::Range values;
  for (const TuningTrial& trial : t.trials)
    if (std::isfinite(trial.value) && trial.score) values.take(*trial.score);
  return values.empty() ? svg::Range{0, 1} : values;
}

Axis axis_over(svg::Range v, double from, double to, double spread) {
  if (v.spans(spread)) {
    const double room = std::pow(v.high / v.low, 0.06);
    return {Axis::Scale::logarithmic, v.low / room, v.high * room, from, to};
  }
  const double span = v.high - v.low;
  const double room = span > 0 ? 0.06 * span : std::max(0.1 * std::abs(v.high), 1e-9);
  return {Axis::Scale::linear, v.low - room, v.high + room, from, to};
}

/// Ranks trials as the sweep does.
bool is_better(const TuningTrial& a, const TuningTrial& b) {
  return std::pair(*a.score, a.then) < std::pair(*b.score, b.then);
}

const TuningTrial* best_of(const Tuning& t) {
  const TuningTrial* best = nullptr;
  for (const TuningTrial& trial : t.trials) {
    if (!std::isfinite(trial.value) || !arrived(trial)) continue;
    if (best == nullptr || is_better(trial, *best)) best = &trial;
  }
  return best;
}

std::string cross(svg::Point at) {
  return svg::path("M" + svg::place({at.x - 4, at.y - 4}) + "l8 8m0 -8l-8 8", "missed");
}

std::string trial_mark(const Tuning& t, const TuningTrial& trial, const Axis& x, const Axis& y) {
  const std::string tip =
      fmt::format("{} {:.4g}: {}{}", t.knob, trial.value,
                  arrived(trial) ? fmt::format("{:.4g} {}", *trial.score, t.score_title) : "missed",
                  trial.note.empty() ? "" : ", " + trial.note);
  const double at = x.at(trial.value);
  return svg::group(
      "", tip,
      arrived(trial) ? svg::circle({at, y.at(*trial.score)}, 4.5, "dot") : cross({at, missed_y}));
}

std::string edge_mark(const Tuning& t, const Axis& x) {
  const EdgeOfRange edge = best_at_edge(t);
  if (edge == EdgeOfRange::none) return "";
  const svg::Range v = knob_values(t);
  const double from = edge == EdgeOfRange::least ? x.from() : x.at(v.high);
  const double to = edge == EdgeOfRange::least ? x.at(v.low) : x.to();
  const bool least = edge == EdgeOfRange::least;
  return svg::rect({from, top}, to - from, tall - bottom - top, "edge-of-range") +
         svg::text({least ? x.from() + 4 : x.to(), top - 42}, least ? "start" : "end", "tick warn",
                   fmt::format("the best is the {} tried", least ? "smallest" : "largest"));
}

}  // namespace

EdgeOfRange best_at_edge(const Tuning& t) {
  const TuningTrial* best = best_of(t);
  const svg::Range v = knob_values(t);
  if (best == nullptr || v.low == v.high) return EdgeOfRange::none;
  const auto as_good_inside = [&](const TuningTrial& trial) {
    return trial.value > v.low && trial.value < v.high && trial.score && !is_better(*best, trial);
  };
  if (std::ranges::any_of(t.trials, as_good_inside)) return EdgeOfRange::none;
  if (best->value == v.low) return EdgeOfRange::least;
  return best->value == v.high ? EdgeOfRange::most : EdgeOfRange::none;
}

std::string tuning_figure(const Tuning& t) {
  if (knob_values(t).empty()) return "";
  const Axis x = axis_over(knob_values(t), left, width - right, 5);
  const Axis y = axis_over(scores(t), tall - bottom, top, 10);
  std::string content = svg::axes(x, y, t.knob, t.score_title, 5);
  content += edge_mark(t, x);
  std::string marks;
  for (const TuningTrial& trial : t.trials)
    if (std::isfinite(trial.value)) marks += trial_mark(t, trial, x, y);
  if (const TuningTrial* best = best_of(t))
    marks += svg::circle({x.at(best->value), y.at(*best->score)}, 8.5, "target");
  content += svg::group(svg::series(t.series), "", marks);
  return svg::image(width, tall, t.method + ": " + t.score_title + " over " + t.knob, content);
}

}  // namespace gv
