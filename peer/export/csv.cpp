#include "peer/export/csv.h"

#include <algorithm>
#include <array>
#include <optional>

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

std::string line(const std::string& run, const MetricsRow& row, bool states) {
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
  for (std::size_t k = 0; states && k < activities; ++k)
    text += row.activities ? fmt::format(",{}", (*row.activities)[k]) : ",";
  return text + "\r\n";
}

bool has_states(const ExportedRun& run) {
  return std::ranges::any_of(run.rows,
                             [](const MetricsRow& r) { return r.activities.has_value(); });
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
  const bool states = std::ranges::any_of(runs, has_states);
  std::string text = fmt::format("{}", fmt::join(columns, ","));
  for (std::size_t k = 0; states && k < activities; ++k)
    text += fmt::format(",{}_seconds", activity_names[k]);
  text += "\r\n";
  for (const ExportedRun& run : runs)
    for (const MetricsRow& row : run.rows) text += line(csv_word(run.name), row, states);
  return text;
}

}  // namespace gv
