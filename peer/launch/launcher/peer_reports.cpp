#include "peer/launch/launcher/peer_reports.h"

#include <filesystem>
#include <fstream>
#include <span>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "peer/fleet/json/fields.h"
#include "peer/launch/process/control.h"
#include "peer/record/disk/posix_disk.h"

namespace gv {
namespace {

namespace fs = std::filesystem;
constexpr const char* reports_schema = "grapevine.reports/1";
constexpr std::uint64_t most_kept_bytes = std::uint64_t{256} << 20;
constexpr std::size_t most_line_bytes = 1U << 20;
constexpr std::size_t most_reports = 1'000'000;

}  // namespace

void fields(auto& v, ReportsOf& whose) {
  v.also("event", "peer"), v.also("schema", reports_schema);
  v("digest", whose.digest), v("peer", whose.peer), v("peers", whose.peers);
  v("file", whose.file), v("sets", whose.sets);
}

namespace {

std::string lines_path(const std::string& folder) {
  return fmt::format("{}/reports.jsonl", folder);
}

std::string model_path(const std::string& folder, std::size_t number) {
  return fmt::format("{}/reports/{}.f32", folder, number);
}

void append(const std::string& path, const std::string& line) {
  std::ofstream out(path, std::ios::app | std::ios::binary);
  out << line << "\n";
  out.close();
  if (!out) throw std::runtime_error(path + ": cannot be written");
}

ReportsOf parse_header(const std::string& line) {
  const JsonValue json = parse_json(line, "its first line");
  if (json_text(json, "schema") != reports_schema)
    throw std::runtime_error(fmt::format("its schema is not {}", reports_schema));
  ReportsOf whose;
  read_json(json, "", whose);
  return whose;
}

/// Returns the whole lines of the file, without an unfinished one that a killed process left.
std::vector<std::string> whole_lines(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw std::runtime_error(path + ": cannot be read");
  std::vector<std::string> lines;
  std::string line;
  for (int c = in.get(); c != std::ifstream::traits_type::eof(); c = in.get()) {
    if (c != '\n') {
      line += static_cast<char>(c);
      if (line.size() > most_line_bytes)
        throw std::runtime_error(
            fmt::format("{}:{}: a line of over 1 MiB", path, lines.size() + 1));
      continue;
    }
    if (lines.size() > most_reports)
      throw std::runtime_error(fmt::format("{}: over a million reports", path));
    lines.push_back(std::exchange(line, {}));
  }
  return lines;
}

}  // namespace

PeerReports::PeerReports(std::string folder, const ReportsOf& whose, bool goes_on)
    : folder_(std::move(folder)) {
  const std::string path = lines_path(folder_);
  std::error_code error;
  std::vector<std::string> before;
  if (goes_on && fs::exists(path, error)) before = whole_lines(path);
  if (before.empty()) {
    fs::remove_all(folder_ + "/reports", error);
    before = {to_json(whose).dump()};
  }
  fs::create_directories(folder_ + "/reports", error);
  if (error) throw std::runtime_error(fmt::format("{}/reports: {}", folder_, error.message()));
  count_ = before.size() - 1;
  for (std::size_t k = 1; k <= count_; ++k)
    if (const auto size = fs::file_size(model_path(folder_, k), error); !error) kept_bytes_ += size;
  std::string text;
  for (const std::string& line : before) text += line + "\n";
  const Verdict wrong = PosixDisk().write(path, std::as_bytes(std::span(text)));
  if (!wrong.empty()) throw std::runtime_error(fmt::format("{}: {}", path, wrong));
}

/// Writes the model first, so that a line means that its whole report is there.
void PeerReports::keep(const Report& report) {
  ++count_;
  const std::size_t bytes = report.model->size();
  if (report.last || kept_bytes_ + bytes <= most_kept_bytes) {
    const std::string path = model_path(folder_, count_);
    const Verdict wrong = PosixDisk().write(path, std::as_bytes(std::span(report.model->floats())));
    if (!wrong.empty()) throw std::runtime_error(fmt::format("{}: {}", path, wrong));
    kept_bytes_ += bytes;
  }
  append(lines_path(folder_), control::line(control::Reported{report}));
}

StoredReports read_reports(const std::string& folder) {
  const std::string path = lines_path(folder);
  const std::vector<std::string> lines = whole_lines(path);
  std::size_t number = 0;  // line number, from 0
  try {
    if (lines.empty()) throw std::runtime_error("empty");
    StoredReports stored{.whose = parse_header(lines[0]), .reports = {}};
    while (++number < lines.size()) {
      control::PeerSays says = control::parse_peer(lines[number]);
      auto* const reported = std::get_if<control::Reported>(&says);
      if (reported == nullptr || reported->report.peer != stored.whose.peer)
        throw std::runtime_error("no report of this peer");
      std::string model = model_path(folder, number);
      std::error_code error;
      if (!fs::is_regular_file(fs::symlink_status(model, error))) model.clear();
      stored.reports.push_back({std::move(reported->report), std::move(model)});
    }
    return stored;
  } catch (const std::exception& e) {
    throw std::runtime_error(fmt::format("{}:{}: {}", path, number + 1, e.what()));
  }
}

Report load(const KeptReport& kept, std::size_t most_bytes) {
  std::ifstream in(kept.model, std::ios::binary | std::ios::ate);
  const auto size = in ? static_cast<std::size_t>(in.tellg()) : 0;
  if (!in || size > most_bytes || size % sizeof(float) != 0)  // 0 bytes: serves samples only
    throw std::runtime_error(fmt::format("{}: {} bytes, and a model of this fleet has up to {}",
                                         kept.model, size, most_bytes));
  const auto buffer = std::make_shared<Buffer>(size);
  in.seekg(0);
  in.read(reinterpret_cast<char*>(buffer->data()), static_cast<std::streamsize>(size));
  if (!in) throw std::runtime_error(kept.model + ": cannot be read");
  Report report = kept.report;
  report.model = buffer;
  return report;
}

}  // namespace gv
