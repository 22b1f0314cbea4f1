#include "peer/record/export/csv.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "peer/record/report/figures.h"

namespace gv {
namespace {

/// A mark that tells the runs apart: a name, and the value of each run.
struct Mark {
  std::string name;
  std::vector<std::string> values;  ///< as words
};

void add_axes(const std::vector<ExportedRun>& runs, std::vector<Mark>& marks) {
  const bool trials =
      std::ranges::any_of(runs, [](const ExportedRun& r) { return !r.stage.empty(); });
  for (std::size_t i = 0; i < runs.size(); ++i)
    for (const auto& [axis, value] : runs[i].values) {
      auto mark = std::ranges::find(marks, axis, &Mark::name);
      if (mark == marks.end())
        mark = marks.insert(mark, {axis, std::vector<std::string>(runs.size())});
      mark->values[i] = csv_word(value);
    }
  if (!trials) return;
  marks.push_back({"stage", {}});
  for (const ExportedRun& run : runs) marks.back().values.push_back(csv_word(run.stage));
}

/// Leaves out where a run is kept and what it is called, which say nothing of what it is.
bool is_about_the_run(const std::string& key) {
  return key != "name" && !key.starts_with("output");
}

void add_keys(const std::vector<ExportedRun>& runs, std::vector<Mark>& marks) {
  std::set<std::string> keys;
  for (const ExportedRun& run : runs)
    for (const auto& [key, value] : run.keys)
      if (is_about_the_run(key)) keys.insert(key);
  for (const std::string& key : keys) {
    if (std::ranges::find(marks, key, &Mark::name) != marks.end()) continue;
    Mark mark{key, {}};
    for (const ExportedRun& run : runs) {
      const auto value = run.keys.find(key);
      mark.values.push_back(value == run.keys.end() ? "" : csv_word(value->second));
    }
    if (std::ranges::adjacent_find(mark.values, std::ranges::not_equal_to{}) != mark.values.end())
      marks.push_back(std::move(mark));
  }
}

std::vector<Mark> marks_of(const std::vector<ExportedRun>& runs) {
  std::vector<Mark> marks;
  add_axes(runs, marks);
  if (runs.size() > 1) add_keys(runs, marks);
  return marks;
}

/// The columns of figures: those that are always there, and those that some run has.
struct Columns {
  std::vector<RunFigure> figures{};
  bool states = false;
};

Columns columns_of(const std::vector<ExportedRun>& runs) {
  std::set<FigureColumn> there{FigureColumn::always};
  Columns columns;
  for (const ExportedRun& run : runs)
    for (const MetricsRow& row : run.rows) {
      if (row.frames) there.insert(FigureColumn::of_agents);
      if (row.actors) there.insert(FigureColumn::of_actors);
      columns.states = columns.states || row.states.has_value();
    }
  for (const RunFigure& figure : figures())
    if (there.contains(figure.column)) columns.figures.push_back(figure);
  return columns;
}

/// `run`: the words of all columns before the figures.
std::string line(const std::string& run, const MetricsRow& row, const Columns& columns) {
  std::string text = run;
  for (const RunFigure& figure : columns.figures) text.append(1, ',').append(figure.cell(row));
  for (std::size_t k = 0; columns.states && k < activities; ++k)
    text += row.states ? fmt::format(",{}", (*row.states)[k]) : ",";
  return text + "\r\n";
}

}  // namespace

std::string csv_word(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + '"';
}

std::string csv_of(const std::vector<ExportedRun>& runs) {
  const Columns columns = columns_of(runs);
  const std::vector<Mark> marks = marks_of(runs);
  std::string text = "run";
  for (const Mark& mark : marks) text.append(1, ',').append(csv_word(mark.name));
  for (const RunFigure& figure : columns.figures) text.append(1, ',').append(figure.key);
  for (std::size_t k = 0; columns.states && k < activities; ++k)
    text += fmt::format(",{}_seconds", activity_names[k]);
  text += "\r\n";
  for (std::size_t i = 0; i < runs.size(); ++i) {
    std::string about = csv_word(runs[i].name);
    for (const Mark& mark : marks) about.append(1, ',').append(mark.values[i]);
    for (const MetricsRow& row : runs[i].rows) text += line(about, row, columns);
  }
  return text;
}

}  // namespace gv
