#include "peer/record/export/exported_run.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <optional>
#include <set>
#include <stdexcept>

#include <fmt/format.h>
#include <sys/stat.h>

#include "graph/formats/json_value.h"
#include "optim/machine/cache_home.h"
#include "optim/printable.h"
#include "peer/fleet/json/json.h"

namespace gv {
namespace {

/// Reads the start time of run.json, "2026-05-04T12:00:00Z".
std::optional<double> written_begin(const std::string& path) {
  try {
    const JsonValue json = parse_json(text_of_file(path), path);
    std::tm time{};
    const char* const end =
        ::strptime(json_text(json, "began").c_str(), "%Y-%m-%dT%H:%M:%S", &time);
    if (end == nullptr) return std::nullopt;
    return static_cast<double>(::timegm(&time));
  } catch (const std::exception&) {  // older runs lack it
    return std::nullopt;
  }
}

constexpr std::size_t most_keys = 10'000;

/// Reads the file. Returns nothing if it is missing or unreadable.
std::optional<JsonValue> about(const std::string& path) {
  try {
    return parse_json(text_of_file(path), path);
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

std::vector<std::pair<std::string, std::string>> texts_of(const JsonValue& json,
                                                          const std::string& member) {
  std::vector<std::pair<std::string, std::string>> texts;
  const JsonValue* const object = json.find(member);
  if (object == nullptr || object->members.size() > most_keys) return texts;
  for (const auto& [name, value] : object->members)
    texts.emplace_back(printable(name, 200), printable(value.text, 1000));
  return texts;
}

/// Returns the time of run.json, which is written once, before training begins.
double file_time(const std::string& path) {
  struct stat about {};
  return ::stat(path.c_str(), &about) == 0 ? static_cast<double>(about.st_mtim.tv_sec) : 0;
}

/// A column that distinguishes the runs: its name and the value of each run.
struct Mark {
  std::string name;
  std::vector<std::string> values;  ///< one per run, as table cells
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

/// Returns false for a run's folder and name, which do not describe the run itself.
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

/// Columns of figures: those that every table has, and those that at least one run has.
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

/// Returns a line of the table. `run`: the cells before the figures.
std::string line(const std::string& run, const MetricsRow& row, const Columns& columns) {
  std::string text = run;
  for (const RunFigure& figure : columns.figures) text.append(1, ',').append(figure.cell(row));
  for (std::size_t k = 0; columns.states && k < activities; ++k)
    text += row.states ? fmt::format(",{}", (*row.states)[k]) : ",";
  return text + "\r\n";
}

static_assert(std::endian::native == std::endian::little, "numbers are written as they lie");

template <class Value>
std::string raw(Value value) {
  std::string bytes(sizeof value, '\0');
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

std::string varint(std::uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7) bytes += static_cast<char>(value | 0x80);
  return bytes + static_cast<char>(value);
}

// Fields of the protocol buffers wire format.
enum Wire : std::uint8_t {
  varint_field = 0,
  fixed64_field = 1,
  bytes_field = 2,
  fixed32_field = 5
};

std::string key(int field, Wire wire) {
  return varint(static_cast<std::uint64_t>(field) << 3 | wire);
}
std::string text_field(int field, std::string_view bytes) {
  return key(field, bytes_field) + varint(bytes.size()) + std::string(bytes);
}

std::string record(std::string_view data) {
  const std::string length = raw<std::uint64_t>(data.size());
  return length + raw(masked_crc32c(length)) + std::string(data) + raw(masked_crc32c(data));
}

std::string scalar(std::string_view tag, double value) {
  return text_field(1, text_field(1, tag) + key(2, fixed32_field) + raw(static_cast<float>(value)));
}

std::string summary_of(const MetricsRow& row) {
  std::string values;
  for (const RunFigure& figure : figures())
    if (const auto value = figure.of(row); value && !figure.tag.empty())
      values += scalar(figure.tag, *value);
  for (std::size_t k = 0; row.states && k < activities; ++k)
    values += scalar(fmt::format("state_seconds/{}", activity_names[k]), (*row.states)[k]);
  return values;
}

std::string event_at(double wall_time) {
  return key(1, fixed64_field) + raw(wall_time);
}

std::array<std::uint32_t, 256> make_table() {
  constexpr std::uint32_t reversed_polynomial = 0x82f63b78;
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t n = 0; n < 256; ++n) {
    std::uint32_t rest = n;
    for (int bit = 0; bit < 8; ++bit)
      rest = (rest & 1U) != 0 ? rest >> 1 ^ reversed_polynomial : rest >> 1;
    table[n] = rest;
  }
  return table;
}

}  // namespace

ExportedRun read_run(const std::string& folder) {
  const std::string written = folder + "/run.json";
  const std::optional<double> began = written_begin(written);
  std::filesystem::path path(folder);
  if (!path.has_filename()) path = path.parent_path();  // "runs/x/"
  ExportedRun run{.name = path.filename().string(),
                  .began = began ? *began : file_time(written),
                  .rows = read_metrics(folder + "/metrics.jsonl")};
  if (const auto trial = about(folder + "/trial.json")) {
    run.values = texts_of(*trial, "values");
    if (const JsonValue* const stage = trial->find("stage")) run.stage = printable(stage->text, 40);
  }
  if (const auto said = about(written))
    for (const auto& [key, value] : texts_of(*said, "keys")) run.keys[key] = value;
  return run;
}

std::vector<std::string> runs_of(const std::string& folder) {
  namespace fs = std::filesystem;
  if (!fs::is_directory(folder + "/trials")) return {folder};
  std::vector<std::string> trials;
  for (const auto& entry : fs::directory_iterator(folder + "/trials"))
    if (fs::exists(entry.path() / "metrics.jsonl")) trials.push_back(entry.path().string());
  std::ranges::sort(trials);
  if (trials.empty()) throw std::runtime_error(folder + ": no trial of this sweep has begun");
  return trials;
}

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

std::uint32_t crc32c(std::string_view bytes) {
  static const std::array<std::uint32_t, 256> table = make_table();
  std::uint32_t crc = ~0U;
  for (const char c : bytes) crc = table[(crc ^ static_cast<std::uint8_t>(c)) & 0xff] ^ crc >> 8;
  return ~crc;
}

std::uint32_t masked_crc32c(std::string_view bytes) {
  return std::rotr(crc32c(bytes), 15) + 0xa282ead8U;
}

std::string event_file(const ExportedRun& run) {
  std::string file = record(event_at(run.began) + text_field(3, "brain.Event:2"));
  for (const MetricsRow& row : run.rows)
    file += record(event_at(run.began + row.seconds) + key(2, varint_field) + varint(row.round) +
                   text_field(5, summary_of(row)));
  return file;
}

std::string write_event_file(const std::string& folder, const ExportedRun& run) {
  const std::string place = folder + "/" + run.name;
  std::error_code error;
  std::filesystem::create_directories(place, error);
  if (error) throw std::runtime_error(place + ": cannot be made: " + error.message());
  const std::string path = fmt::format("{}/events.out.tfevents.{:.0f}.grapevine", place, run.began);
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out << event_file(run);
  out.close();
  if (!out) throw std::runtime_error(path + ": cannot be written");
  return path;
}

}  // namespace gv
