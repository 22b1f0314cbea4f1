#include "peer/record/export/csv.h"

#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gv {
namespace {

constexpr std::array<std::string_view, 15> columns{"run",
                                                   "round",
                                                   "seconds",
                                                   "training_seconds",
                                                   "samples",
                                                   "epoch",
                                                   "peers",
                                                   "train_loss",
                                                   "loss",
                                                   "loss_local",
                                                   "accuracy",
                                                   "accuracy_min",
                                                   "accuracy_max",
                                                   "consensus",
                                                   "sent_bytes"};

template <class Value>
std::string cell(const std::optional<Value>& value) {
  return value ? fmt::format("{}", *value) : "";
}

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

/// The columns that are there because some run has figures for them.
struct Extras {
  bool returns = false;
  bool actors = false;
  bool states = false;
};

/// `run`: the words of all columns before the figures.
std::string line(const std::string& run, const MetricsRow& row, const Extras& extras) {
  std::string text = fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}",
                                 run,
                                 row.round,
                                 row.seconds,
                                 cell(row.training_seconds),
                                 cell(row.samples),
                                 cell(row.epoch),
                                 row.peers,
                                 row.train_loss,
                                 row.loss,
                                 row.loss_local,
                                 cell(row.accuracy),
                                 cell(row.accuracy_min),
                                 cell(row.accuracy_max),
                                 row.consensus,
                                 cell(row.sent_bytes));
  if (extras.returns)
    text += row.frames ? fmt::format(",{},{},{}", 0 - row.loss, 0 - row.loss_local, *row.frames)
                       : ",,,";
  for (std::size_t k = 0; extras.actors && k < actor_figures.size(); ++k)
    text += fmt::format(",{}", cell(row.*actor_figures[k].value));
  for (std::size_t k = 0; extras.states && k < activities; ++k)
    text += row.activities ? fmt::format(",{}", (*row.activities)[k]) : ",";
  return text + "\r\n";
}

Extras extras_of(const std::vector<ExportedRun>& runs) {
  Extras extras;
  for (const ExportedRun& run : runs)
    for (const MetricsRow& row : run.rows) {
      extras.returns = extras.returns || row.frames.has_value();
      extras.actors = extras.actors || row.actors.has_value();
      extras.states = extras.states || row.activities.has_value();
    }
  return extras;
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
  const Extras extras = extras_of(runs);
  const std::vector<Mark> marks = marks_of(runs);
  std::string text(columns.front());
  for (const Mark& mark : marks) text.append(1, ',').append(csv_word(mark.name));
  for (std::size_t k = 1; k < columns.size(); ++k) text += fmt::format(",{}", columns[k]);
  if (extras.returns) text += ",return,return_local,frames";
  for (std::size_t k = 0; extras.actors && k < actor_figures.size(); ++k)
    text += fmt::format(",{}", actor_figures[k].key);
  for (std::size_t k = 0; extras.states && k < activities; ++k)
    text += fmt::format(",{}_seconds", activity_names[k]);
  text += "\r\n";
  for (std::size_t i = 0; i < runs.size(); ++i) {
    std::string about = csv_word(runs[i].name);
    for (const Mark& mark : marks) about.append(1, ',').append(mark.values[i]);
    for (const MetricsRow& row : runs[i].rows) text += line(about, row, extras);
  }
  return text;
}

}  // namespace gv
