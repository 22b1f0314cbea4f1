#include "peer/show/page/report/svg_file.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <string_view>
#include <tuple>

#include <fmt/format.h>

#include "peer/record/runs/stored_run.h"
#include "peer/show/page/page_style.h"
#include "peer/show/page/report/report_sections.h"
#include "peer/show/page/svg.h"
#include "peer/study/predict/forecast/round_prediction.h"

namespace gv {
namespace {

constexpr double width = 460, tall = 300, heading = 26, gap = 18, border = 14;
constexpr std::size_t columns = 2;
constexpr std::size_t longest_title = 58;
constexpr double entry = 230, entry_height = 20, legend_line = 34;  ///< sizes of a legend
constexpr std::size_t longest_entry = 26;

constexpr std::string_view own_style = R"(
.ground { fill: var(--card); stroke: var(--line); }
svg { font-family: system-ui, "Segoe UI", "DejaVu Sans", sans-serif; }
svg .panel { font-size: 14px; font-weight: 600; }
)";

/// Adds the place and the size that an image inside another image needs.
std::string placed(const std::string& figure, svg::Point at) {
  constexpr std::string_view tag = "<svg ";
  return fmt::format("<svg x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" {}", svg::length(at.x),
                     svg::length(at.y), width, tall, figure.substr(tag.size()));
}

std::string draw(const PicturePanel& panel, std::size_t place) {
  const svg::Point at{border + static_cast<double>(place % columns) * (width + gap),
                      border + static_cast<double>(place / columns) * (heading + tall + gap)};
  return svg::text({at.x, at.y + 15}, "start", "panel",
                   svg::shortened(panel.title, longest_title)) +
         placed(panel.figure, {at.x, at.y + heading});
}

std::size_t entries_across(double wide) {
  return std::max<std::size_t>(1, static_cast<std::size_t>((wide - 2 * border) / entry));
}

std::string draw(const PictureLegend& legend, double wide, double from) {
  std::string out;
  for (std::size_t k = 0; k < legend.size(); ++k) {
    const auto& [series, name] = legend[k];
    const std::size_t across = entries_across(wide);
    const svg::Point at{border + static_cast<double>(k % across) * entry,
                        from + (static_cast<double>(k / across) + 0.5) * entry_height};
    out += svg::line(at, {at.x + legend_line, at.y}, "curve " + svg::series(series)) +
           svg::text({at.x + legend_line + 8, at.y + 4}, "start", "",
                     svg::shortened(name, longest_entry));
  }
  return out;
}

constexpr std::string_view speed_up = "speed-up";
constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
/// An axis is logarithmic if its values differ by more than this factor.
constexpr double wide_range = 7;
/// Maximum number of lines whose names fit at their ends.
constexpr std::size_t most_without_legend = 8;

Measure measure_of(const AnswerAxes& axes) {
  return axes.y == speed_up ? Measure::time : measure_named(axes.y);
}

std::string last_word(const std::string& key) {
  return key.substr(key.rfind('.') + 1);
}

/// One dot of a line.
struct Spot {
  double measured = unknown;
  double modelled = unknown;
};
using Spots = std::map<double, Spot>;  ///< by x

Spot spot_of(const Contender& contender, const AnswerAxes& axes) {
  Spot spot;
  if (const auto summary = summary_of(contender, measure_of(axes))) spot.measured = summary->mean;
  if (!axes.model || measure_of(axes) != Measure::time) return spot;
  const auto rounds = summary_of(contender, Measure::rounds);
  const auto seconds = modelled_round_seconds(contender);
  if (rounds && seconds) spot.modelled = rounds->mean * *seconds;
  return spot;
}

/// Replaces each time by the time at the least x divided by it, for measured and modelled times.
void divide(Spots& spots) {
  const Spot first = spots.begin()->second;
  for (auto& [x, spot] : spots) {
    spot.measured = first.measured / spot.measured;
    spot.modelled = first.modelled / spot.modelled;
  }
}

PlotLine line_of(const std::string& name, std::size_t series, const Spots& spots, bool modelled) {
  PlotLine line{.name = name, .series = series, .predicted = modelled};
  for (const auto& [x, spot] : spots) {
    line.x.push_back(x);
    line.y.push_back(modelled ? spot.modelled : spot.measured);
  }
  return line;
}

/// The spots of every line that one panel shows.
using Panel = std::map<std::string, Spots>;

/// "peers 8" before "peers 16".
struct ShorterFirst {
  bool operator()(const std::string& a, const std::string& b) const {
    return std::tuple(a.size(), a) < std::tuple(b.size(), b);
  }
};

class AxisPanels {
 public:
  AxisPanels(const Comparison& whole, const AnswerAxes& axes) : axes_(axes) {
    for (const Section& section : whole.sections)
      for (const Contender& contender : section.contenders) take(whole.table, contender);
    for (const auto& [name, panel] : panels_)
      for (const auto& [line, spots] : panel) series_.emplace(line, series_.size());
  }

  std::vector<PicturePanel> draw() const {
    std::vector<PicturePanel> drawn;
    for (const auto& [name, panel] : panels_) drawn.push_back({name, lines_figure(plot_of(panel))});
    if (drawn.size() == 1) drawn.front().title = y_title() + " against " + x_title();
    for (PicturePanel& panel : drawn)
      if (axes_.model) panel.title += " (dotted: closed forms)";
    return drawn;
  }

 private:
  void take(const RunTable& table, const Contender& contender) {
    const auto x = numbered_label(value_of(*contender.group, axes_.x));
    if (!x) return;
    unit_ = x->number.unit;
    std::string line = x->name;
    std::string panel;
    for (const std::string& axis : table.columns) {
      if (axis == axes_.x) continue;
      const std::string value = value_of(*contender.group, axis);
      if (line.empty())
        line = value;
      else
        panel += fmt::format("{}{} {}", panel.empty() ? "" : ", ", last_word(axis), value);
    }
    panels_[panel][line][x->number.value] = spot_of(contender, axes_);
  }

  std::string y_title() const { return axes_.y == "time" ? "seconds" : axes_.y; }

  std::string x_title() const { return axes_.name.empty() ? last_word(axes_.x) : axes_.name; }

  LinePlot plot_of(const Panel& panel) const {
    LinePlot plot{.x_title = x_title(), .y_title = y_title(), .points = true};
    if (unit_ == "s")
      plot.x_is = Quantity::seconds;
    else if (!unit_.empty())
      plot.x_title += ", " + std::string(unit_);
    for (const auto& [name, all] : panel) {
      Spots spots = all;
      if (axes_.y == speed_up) divide(spots);
      plot.lines.push_back(line_of(name, series_.at(name), spots, false));
      if (axes_.model) plot.lines.push_back(line_of(name, series_.at(name), spots, true));
    }
    plot.log_x = range_of(plot.lines, &PlotLine::x).spans(wide_range);
    plot.log_y = range_of(plot.lines, &PlotLine::y).spans(wide_range);
    return plot;
  }

  const AnswerAxes& axes_;
  std::string_view unit_;
  std::map<std::string, Panel, ShorterFirst> panels_;
  std::map<std::string, std::size_t> series_;  ///< by the name of the line
};

constexpr double bytes_of_a_float = 4;
constexpr double mbit = 1e6 / 8;

/// The value of a key of the run's file, in seconds, Mbit/s or ones.
std::optional<double> stored_value(const StoredRun& run,
                                   const std::string& key,
                                   std::string_view in) {
  const auto at = run.keys.find(key);
  if (at == run.keys.end()) return std::nullopt;
  const auto number = stated_number(at->second);
  return number && number->unit == in ? std::optional(number->value) : std::nullopt;
}

bool has(const StoredRun& run, const std::string& key) {
  return run.keys.contains(key);
}

/// Returns whether a peer takes more than one step in a round, or may.
bool has_local_steps(const StoredRun& run) {
  const std::string key = "train.local_steps";
  if (!has(run, key)) return has(run, key + ".kind");
  return stored_value(run, key, "").value_or(0) != 1;
}

/// Models that a peer sends in a round.
std::optional<double> models_sent(const StoredRun& run, std::size_t n) {
  struct Graph {
    std::string_view name;
    double degree;
  };
  constexpr std::array graphs{Graph{"ring", 2}, Graph{"one-peer-exponential", 1},
                              Graph{"random-matching", 1}};
  if (n < 2) return 0;
  const auto known = std::ranges::find(graphs, run.topology, &Graph::name);
  if (known != graphs.end()) return std::min(known->degree, static_cast<double>(n - 1));
  if (run.topology == "complete") return static_cast<double>(n - 1);
  return std::nullopt;
}

/// Returns the seconds of one gradient, as the mean over the seeds.
std::optional<double> gradient_seconds(const Contender& contender, std::size_t trainers) {
  double seconds = 0;
  double rounds = 0;
  for (const SeedRun& entry : contender.entries) {
    if (!entry.cost || !entry.cost->states) return std::nullopt;
    seconds += entry.cost->states->front() / static_cast<double>(trainers);
    rounds += entry.cost->rounds;
  }
  return rounds > 0 ? std::optional(seconds / rounds) : std::nullopt;
}

}  // namespace

std::string picture_file(const std::string& title,
                         const std::vector<PicturePanel>& panels,
                         const PictureLegend& legend) {
  std::string content;
  std::size_t drawn = 0;
  for (const PicturePanel& panel : panels)
    if (!panel.figure.empty()) content += draw(panel, drawn++);
  if (drawn == 0) return "";
  const std::size_t across = std::min(drawn, columns);
  const std::size_t down = (drawn + columns - 1) / columns;
  const double wide = 2 * border + static_cast<double>(across) * (width + gap) - gap;
  const std::size_t lines = (legend.size() + entries_across(wide) - 1) / entries_across(wide);
  const double below = border + static_cast<double>(down) * (heading + tall + gap) - gap;
  const double high = below + border + entry_height * static_cast<double>(lines);
  content += draw(legend, wide, below);
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" "
      "height=\"{1}\" role=\"img\" aria-label=\"{2}\">\n<style>{3}{4}{5}</style>\n{6}{7}</svg>\n",
      wide, high, svg::escape(title), page_palette, figure_style, own_style,
      svg::rect({0.5, 0.5}, wide - 1, high - 1, "ground"), content);
}

std::string figure_file(const std::string& figure) {
  constexpr std::string_view tag = "<svg ";
  const std::size_t head = figure.find('>');
  if (!figure.starts_with(tag) || head == std::string::npos) return "";
  return fmt::format("<svg xmlns=\"http://www.w3.org/2000/svg\" {}>\n<style>{}{}{}</style>\n{}\n",
                     figure.substr(tag.size(), head - tag.size()), page_palette, figure_style,
                     own_style, figure.substr(head + 1));
}

std::string race_picture(const Comparison& comparison, const std::string& title) {
  std::vector<PicturePanel> panels;
  const std::vector<GroupRow> rows = group_rows(comparison);
  for (const GroupRow& row : rows) {
    const std::vector<Figure> figures =
        race_figures(row, raced_figure(row, comparison.target), comparison.target);
    if (figures.empty()) continue;
    panels.push_back({row.name.empty() ? figures.front().title : row.name, figures[0].picture});
    if (rows.size() == 1 && figures.size() > 1)
      panels.push_back({figures.back().title, figures.back().picture});
  }
  return picture_file(title, panels, legend_of(rows, most_without_legend));
}

std::string axis_picture(const Comparison& whole,
                         const AnswerAxes& axes,
                         const std::string& title) {
  return picture_file(title, AxisPanels(whole, axes).draw());
}

std::optional<double> modelled_round_seconds(const Contender& contender) {
  const StoredRun& run = *contender.group->runs.front();
  if (has(run, "links") || has_local_steps(run)) return std::nullopt;
  const auto shape = run.keys.find("network.shape");
  if (shape != run.keys.end() && shape->second != "per-nic") return std::nullopt;
  const bool served = run.algorithm == "parameter-server";
  const auto servers =
      static_cast<std::size_t>(served ? stored_value(run, "algorithm.servers", "").value_or(1) : 0);
  if (servers >= run.peers || servers > 1) return std::nullopt;
  WallClock clock{.peers = run.peers - servers,
                  .latency = stored_value(run, "network.latency", "s").value_or(0),
                  .bandwidth = mbit * stored_value(run, "network.bandwidth", "Mbit/s").value_or(0),
                  .model_bytes = bytes_of_a_float * static_cast<double>(run.parameters)};
  const auto compute = gradient_seconds(contender, clock.peers);
  if (!compute) return std::nullopt;
  clock.compute = *compute;
  if (run.algorithm == "all-reduce" && (run.order.empty() || run.order == "ring"))
    return clock.ring_all_reduce();
  if (served && run.order == "sync" && stored_value(run, "algorithm.backup", "").value_or(0) == 0)
    return clock.server();
  if (run.algorithm != "d-psgd" || has(run, "algorithm.codec")) return std::nullopt;
  const auto models = models_sent(run, clock.peers);
  if (!models) return std::nullopt;
  return clock.gossip(*models, run.order == "lian");
}

}  // namespace gv
