#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>

#include <fmt/format.h>

#include "peer/record/runs/stored_run.h"
#include "peer/show/page/labels.h"
#include "peer/show/page/report/report_sections.h"
#include "peer/study/compare/statistics.h"

namespace gv {
namespace {

struct AxisWords {
  CurveAxis axis;
  const char* title;
  Quantity unit;
};
constexpr std::array axes{AxisWords{CurveAxis::seconds, "time", Quantity::seconds},
                          AxisWords{CurveAxis::bytes, "sent", Quantity::bytes},
                          AxisWords{CurveAxis::rounds, "rounds", Quantity::number},
                          AxisWords{CurveAxis::epochs, "epochs", Quantity::number},
                          AxisWords{CurveAxis::frames, "frames", Quantity::number}};
constexpr const AxisWords& rounds_axis = axes[2];

const char* words_of(CurveFigure figure) {
  switch (figure) {
    case CurveFigure::accuracy:
      return "accuracy";
    case CurveFigure::worst_accuracy:
      return "worst local accuracy";
    case CurveFigure::loss:
      return "loss";
    case CurveFigure::local_loss:
      return "loss of local models";
    case CurveFigure::consensus:
      return "consensus distance";
    case CurveFigure::mean_return:
      return "return";
    case CurveFigure::local_return:
      return "return of local models";
  }
  return "";
}

bool is_return(CurveFigure figure) {
  return figure == CurveFigure::mean_return || figure == CurveFigure::local_return;
}

/// Half of the 95 % interval of a mean over this number of seeds.
double half_width(double deviation, std::size_t seeds) {
  const auto n = static_cast<double>(seeds);
  return student_t_quantile(0.975, n - 1) * deviation / std::sqrt(n);
}

/// The band is the interval of the mean, as in `compare`; for two seeds it spans both values.
PlotLine line_of(const GroupView& view, CurveAxis axis, CurveFigure figure) {
  PlotLine line{.name = view.name, .series = view.series};
  const std::size_t seeds = view.group().runs.size();
  for (const CurvePoint& p : curve_of(view.group(), axis, figure)) {
    line.x.push_back(p.at);
    line.y.push_back(p.mean);
    if (seeds < 2) continue;
    const double half = seeds > 2 ? half_width(p.deviation, seeds) : 0;
    line.low.push_back(seeds > 2 ? p.mean - half : p.least);
    line.high.push_back(seeds > 2 ? p.mean + half : p.most);
  }
  return line;
}

/// A logarithmic axis shows values that fall by more than this factor.
constexpr double wide_fall = 20;

std::string curve_cell(Quantity unit, const std::optional<double>& value) {
  return value ? quantity_text(unit, *value) : "-";
}

/// Lists the value of each line at its end, and the place at which it meets the target.
DataTable ends_of(const LinePlot& plot) {
  DataTable table{{"", plot.x_title + " at the end", plot.y_title, "band from", "to"}, {}};
  if (plot.target) table.heads.push_back(fmt::format("{:.5g} after", *plot.target));
  for (const PlotLine& line : plot.lines) {
    if (line.x.empty()) continue;
    std::vector<std::string> row{line.name, quantity_text(plot.x_is, line.x.back()),
                                 fmt::format("{:.5g}", line.y.back()),
                                 line.low.empty() ? "-" : fmt::format("{:.5g}", line.low.back()),
                                 line.high.empty() ? "-" : fmt::format("{:.5g}", line.high.back())};
    if (plot.target) row.push_back(curve_cell(plot.x_is, line.reached));
    table.rows.push_back(row);
  }
  return table;
}

Figure figure_of(const LinePlot& plot, const std::string& note) {
  std::string title = plot.y_title + " against " + plot.x_title;
  title[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(title[0])));
  return {.title = title,
          .note = note,
          .picture = lines_figure(plot),
          .numbers = ends_of(plot),
          .wide = false};
}

void aim(LinePlot& plot, CurveFigure what, const std::optional<CompareTarget>& target) {
  if (!target || curve_of_target(*target) != what) return;
  plot.target = target->asked();
  const bool from_below = target->figure == CompareTarget::Figure::accuracy || target->as_return;
  for (PlotLine& line : plot.lines)
    if (!line.reached) line.reached = meets(line, *plot.target, from_below);
}

/// Returns the cost to reach the target by the comparison, so that page and table agree; nothing if
/// it has no such measure, or a seed misses the target.
std::optional<double> cost_along(const Contender& contender, CurveAxis axis) {
  const auto mean = [&](Measure measure) -> std::optional<double> {
    const auto summary = summary_of(contender, measure);
    return summary ? std::optional(summary->mean) : std::nullopt;
  };
  switch (axis) {
    case CurveAxis::seconds:
      return mean(Measure::time);
    case CurveAxis::bytes:
      return mean(Measure::bytes);
    case CurveAxis::rounds:
      return mean(Measure::rounds);
    case CurveAxis::epochs:
    case CurveAxis::frames:
      break;
  }
  return std::nullopt;
}

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

/// A figure of each evaluation of a run.
PlotLine of_run(const StoredRun& run, CurveAxis axis, CurveFigure figure) {
  PlotLine line{.name = "mean model"};
  for (const MetricsRow& e : run.evaluations) {
    const auto at = along(e, axis);
    if (!at) continue;
    line.x.push_back(*at);
    line.y.push_back(shown(e, figure).value_or(unknown));
  }
  return line;
}

bool has_values(const PlotLine& line) {
  return std::ranges::any_of(line.y, [](double y) { return std::isfinite(y); });
}

/// Draws the accuracy of the mean model between the worst and the best of the local ones.
LinePlot accuracy_plot(const StoredRun& run, const AxisWords& axis) {
  PlotLine line = of_run(run, axis.axis, CurveFigure::accuracy);
  const PlotLine worst = of_run(run, axis.axis, CurveFigure::worst_accuracy);
  if (has_values(worst)) {
    line.low = worst.y;
    for (const MetricsRow& e : run.evaluations)
      if (along(e, axis.axis)) line.high.push_back(e.accuracy_max.value_or(unknown));
  }
  return {.x_title = axis.title,
          .y_title = words_of(CurveFigure::accuracy),
          .x_is = axis.unit,
          .lines = {line}};
}

/// A figure of the mean model, and the mean of the local ones.
LinePlot models_plot(const StoredRun& run,
                     const AxisWords& axis,
                     CurveFigure mean,
                     CurveFigure local) {
  PlotLine of_local = of_run(run, axis.axis, local);
  of_local.name = "local models";
  of_local.series = 1;
  LinePlot plot{.x_title = axis.title, .y_title = words_of(mean), .x_is = axis.unit};
  plot.lines = {of_run(run, axis.axis, mean), of_local};
  plot.log_y = !is_return(mean) && range_of(plot.lines, &PlotLine::y).spans(wide_fall);
  return plot;
}

/// Draws the returns of agents. Their losses are minus these, and are not drawn.
std::vector<Figure> return_figures(const StoredRun& run,
                                   const std::optional<CompareTarget>& target) {
  std::vector<Figure> figures;
  for (const AxisWords& axis : {rounds_axis, axes[0], axes[4]}) {
    LinePlot plot = models_plot(run, axis, CurveFigure::mean_return, CurveFigure::local_return);
    aim(plot, CurveFigure::mean_return, target);
    figures.push_back(figure_of(plot, ""));
  }
  return figures;
}

bool has_curve(const GroupRow& row, CurveFigure figure) {
  return std::ranges::any_of(row.groups, [&](const GroupView& view) {
    return !curve_of(view.group(), CurveAxis::rounds, figure).empty();
  });
}

}  // namespace

std::optional<double> meets(const PlotLine& line, double height, bool from_below) {
  const auto there = [&](double y) { return from_below ? y >= height : y <= height; };
  for (std::size_t k = 0; k < line.x.size(); ++k) {
    if (!there(line.y[k])) continue;
    if (k == 0 || !std::isfinite(line.y[k - 1])) return line.x[k];
    const double part = (height - line.y[k - 1]) / (line.y[k] - line.y[k - 1]);
    return line.x[k - 1] + part * (line.x[k] - line.x[k - 1]);
  }
  return std::nullopt;
}

CurveFigure curve_of_target(const CompareTarget& target) {
  const bool mean = target.whose == CompareTarget::Whose::mean;
  if (target.as_return) return mean ? CurveFigure::mean_return : CurveFigure::local_return;
  if (target.figure == CompareTarget::Figure::loss)
    return mean ? CurveFigure::loss : CurveFigure::local_loss;
  return mean ? CurveFigure::accuracy : CurveFigure::worst_accuracy;
}

CurveFigure raced_figure(const GroupRow& row, const std::optional<CompareTarget>& target) {
  if (target) return curve_of_target(*target);
  return has_curve(row, CurveFigure::accuracy) ? CurveFigure::accuracy : plain_figure(row);
}

CurveFigure plain_figure(const GroupRow& row) {
  return has_curve(row, CurveFigure::mean_return) ? CurveFigure::mean_return : CurveFigure::loss;
}

std::vector<Figure> race_figures(const GroupRow& row,
                                 CurveFigure what,
                                 const std::optional<CompareTarget>& target) {
  std::vector<Figure> figures;
  for (const AxisWords& words : axes) {
    LinePlot plot{.x_title = words.title, .y_title = words_of(what), .x_is = words.unit};
    for (const GroupView& view : row.groups)
      if (PlotLine line = line_of(view, words.axis, what); !line.x.empty()) {
        if (target) line.reached = cost_along(*view.contender, words.axis);
        plot.lines.push_back(std::move(line));
      }
    plot.log_y = what != CurveFigure::accuracy && !is_return(what) &&
                 range_of(plot.lines, &PlotLine::y).spans(wide_fall);
    aim(plot, what, target);
    if (!plot.lines.empty()) figures.push_back(figure_of(plot, ""));
  }
  return figures;
}

std::vector<Figure> learning_figures(const StoredRun& run,
                                     const std::optional<CompareTarget>& target) {
  if (run.evaluations.back().frames) return return_figures(run, target);
  std::vector<Figure> figures;
  for (const AxisWords& axis : {rounds_axis, axes[0]}) {
    LinePlot accuracy = accuracy_plot(run, axis);
    aim(accuracy, CurveFigure::accuracy, target);
    if (has_values(accuracy.lines[0]))
      figures.push_back(figure_of(accuracy, "band: worst and best of the local models"));
  }
  LinePlot loss = models_plot(run, rounds_axis, CurveFigure::loss, CurveFigure::local_loss);
  aim(loss, CurveFigure::loss, target);
  figures.push_back(figure_of(loss, ""));
  return figures;
}

Figure agreement_figure(const GroupRow& row) {
  LinePlot plot{
      .x_title = rounds_axis.title, .y_title = words_of(CurveFigure::consensus), .log_y = true};
  bool predicted = false;
  for (const GroupView& view : row.groups) {
    const PlotLine line = line_of(view, CurveAxis::rounds, CurveFigure::consensus);
    if (line.x.empty() || std::ranges::none_of(line.y, [](double y) { return y > 0; })) continue;
    plot.lines.push_back(line);
    const auto said = read_prediction(view.group().runs.front()->path);
    if (!said || !said->losses || !(said->losses->consensus > 0)) continue;
    predicted = true;
    plot.lines.push_back({.name = view.name,
                          .series = view.series,
                          .x = {line.x.front(), line.x.back()},
                          .y = {said->losses->consensus, said->losses->consensus},
                          .predicted = true});
  }
  return figure_of(plot, predicted ? "dotted: predicted of the end" : "");
}

std::vector<std::string> usual_rows(const RunTable& table) {
  std::vector<std::string> network;
  for (const std::string& column : table.columns)
    if (column == "network" || column.starts_with("network.")) network.push_back(column);
  return network.size() < table.columns.size() ? network : std::vector<std::string>{};
}

std::vector<GroupRow> group_rows(const Comparison& comparison) {
  std::map<std::string, std::size_t> series;
  for (const Section& section : comparison.sections)
    for (const Contender& contender : section.contenders)
      series.emplace(contender.label, series.size());
  std::vector<GroupRow> rows;
  for (const Section& section : comparison.sections) {
    GroupRow row{name_of(section), {}};
    for (const Contender& contender : section.contenders)
      row.groups.push_back({&contender, contender.label, series.at(contender.label)});
    rows.push_back(std::move(row));
  }
  return rows;
}

std::vector<std::pair<std::size_t, std::string>> legend_of(const std::vector<GroupRow>& rows,
                                                           std::size_t most_without) {
  std::map<std::size_t, std::string> names;
  for (const GroupRow& row : rows)
    for (const GroupView& view : row.groups) names.emplace(view.series, view.name);
  if (names.size() <= most_without) return {};
  return {names.begin(), names.end()};
}

}  // namespace gv
