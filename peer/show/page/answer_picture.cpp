#include "peer/show/page/answer_picture.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>

#include <fmt/format.h>

#include "peer/record/runs/stored_run.h"
#include "peer/show/page/modelled_seconds.h"
#include "peer/show/page/picture_file.h"
#include "peer/show/page/report_curves.h"

namespace gv {
namespace {

constexpr std::string_view speed_up = "speed-up";
constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
/// An axis is logarithmic where its values differ by more than this factor.
constexpr double wide_range = 7;
/// The number of lines that find room for their names at their ends.
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

/// The time at the least x over each, of what was measured and of the model by itself.
void divide(Spots& spots) {
  const Spot first = spots.begin()->second;
  for (auto& [x, spot] : spots) {
    spot.measured = first.measured / spot.measured;
    spot.modelled = first.modelled / spot.modelled;
  }
}

PlotLine measured_line(const std::string& name, std::size_t series, const Spots& spots) {
  PlotLine line{.name = name, .series = series};
  for (const auto& [x, spot] : spots) {
    line.x.push_back(x);
    line.y.push_back(spot.measured);
  }
  return line;
}

PlotLine modelled_line(const std::string& name, std::size_t series, const Spots& spots) {
  PlotLine line{.name = name, .series = series, .predicted = true};
  for (const auto& [x, spot] : spots) {
    line.x.push_back(x);
    line.y.push_back(spot.modelled);
  }
  return line;
}

/// Returns whether all values are above 0 and far from each other.
bool spread(const std::vector<PlotLine>& lines, std::vector<double> PlotLine::*values) {
  double least = std::numeric_limits<double>::infinity();
  double most = 0;
  for (const PlotLine& line : lines)
    for (const double value : line.*values) {
      if (!std::isfinite(value)) continue;
      least = std::min(least, value);
      most = std::max(most, value);
    }
  return least > 0 && most > wide_range * least;
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
      plot.lines.push_back(measured_line(name, series_.at(name), spots));
      if (axes_.model) plot.lines.push_back(modelled_line(name, series_.at(name), spots));
    }
    plot.log_x = spread(plot.lines, &PlotLine::x);
    plot.log_y = spread(plot.lines, &PlotLine::y);
    return plot;
  }

  const AnswerAxes& axes_;
  std::string_view unit_;
  std::map<std::string, Panel, ShorterFirst> panels_;
  std::map<std::string, std::size_t> series_;  ///< of every line's name
};

PictureLegend legend_of(const std::vector<GroupRow>& rows) {
  std::map<std::size_t, std::string> names;
  for (const GroupRow& row : rows)
    for (const GroupView& view : row.groups) names.emplace(view.series, view.name);
  if (names.size() <= most_without_legend) return {};
  return {names.begin(), names.end()};
}

}  // namespace

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
  return picture_file(title, panels, legend_of(rows));
}

std::string axis_picture(const Comparison& whole,
                         const AnswerAxes& axes,
                         const std::string& title) {
  return picture_file(title, AxisPanels(whole, axes).draw());
}

}  // namespace gv
