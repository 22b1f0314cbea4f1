#include "peer/export/exported_run.h"

#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>

#include <sys/stat.h>

#include "graph/formats/json_value.h"
#include "peer/json/json_member.h"

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

/// run.json is written before training begins and not again.
double file_time(const std::string& path) {
  struct stat about {};
  return ::stat(path.c_str(), &about) == 0 ? static_cast<double>(about.st_mtim.tv_sec) : 0;
}

}  // namespace

ExportedRun read_run(const std::string& folder) {
  const std::string about = folder + "/run.json";
  const std::optional<double> began = written_begin(about);
  std::filesystem::path path(folder);
  if (!path.has_filename()) path = path.parent_path();  // "runs/x/"
  return {.name = path.filename().string(),
          .began = began ? *began : file_time(about),
          .rows = read_metrics(folder + "/metrics.jsonl")};
}

}  // namespace gv
