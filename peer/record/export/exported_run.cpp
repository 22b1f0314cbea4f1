#include "peer/record/export/exported_run.h"

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <stdexcept>

#include <sys/stat.h>

#include "graph/formats/json_value.h"
#include "optim/printable.h"
#include "peer/fleet/json/json_member.h"

namespace gv {
namespace {

/// "2026-05-04T12:00:00Z" of run.json.
std::optional<double> written_begin(const std::string& path) {
  std::ifstream in(path);
  if (!in) return std::nullopt;
  try {
    const JsonValue json = parse_json(std::string{std::istreambuf_iterator<char>(in), {}}, path);
    std::tm time{};
    const char* const end =
        ::strptime(json_text(json, "began").c_str(), "%Y-%m-%dT%H:%M:%S", &time);
    if (end == nullptr) return std::nullopt;
    return static_cast<double>(::timegm(&time));
  } catch (const std::exception&) {  // an older run does not say it
    return std::nullopt;
  }
}

constexpr std::size_t most_keys = 10'000;

/// Reads the file; nothing where there is none, or it cannot be read.
std::optional<JsonValue> about(const std::string& path) {
  std::ifstream in(path);
  if (!in) return std::nullopt;
  try {
    return parse_json(std::string{std::istreambuf_iterator<char>(in), {}}, path);
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

/// run.json is written before training begins and not again.
double file_time(const std::string& path) {
  struct stat about {};
  return ::stat(path.c_str(), &about) == 0 ? static_cast<double>(about.st_mtim.tv_sec) : 0;
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

}  // namespace gv
