#include "peer/record/run_folder.h"

#include <cerrno>
#include <exception>
#include <filesystem>
#include <fstream>
#include <set>
#include <span>
#include <stdexcept>
#include <system_error>

#include <fmt/format.h>
#include <sys/stat.h>

#include "optim/machine/cache_home.h"
#include "peer/fleet/json/json.h"
#include "peer/record/disk/posix_disk.h"

namespace gv {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(const std::string& path, const std::string& why) {
  throw std::runtime_error(
      fmt::format("cannot make the run folder {}: {} (set output.dir in the fleet file, or give "
                  "--set output.dir=PATH)",
                  path, why));
}

void make_folder(const fs::path& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error) refuse(path.string(), error.message());
}

constexpr const char* file_name = "held.json";

/// Reads metrics.jsonl and skips malformed lines; another reader reports these.
std::set<PeerId> lost_peers(const std::string& run_folder) {
  std::ifstream in(run_folder + "/metrics.jsonl");
  std::set<PeerId> lost;
  for (std::string line; std::getline(in, line);) {
    try {
      const JsonValue json = parse_json(line, "metrics.jsonl");
      const std::string& event = json_text(json, "event");
      if (event == "lost") lost.insert(json_integer<PeerId>(json, "peer"));
      if (event == "restarted") lost.erase(json_integer<PeerId>(json, "peer"));
    } catch (const std::exception&) {
    }
  }
  return lost;
}

}  // namespace

RunFolder RunFolder::make(const std::string& wanted) {
  const fs::path parent = fs::path(wanted).parent_path();
  if (!parent.empty()) make_folder(parent);
  for (int number = 1; number < 100'000; ++number) {
    const std::string path = number == 1 ? wanted : fmt::format("{}-{}", wanted, number);
    if (::mkdir(path.c_str(), 0700) == 0) return RunFolder(path);
    if (errno != EEXIST) refuse(path, std::generic_category().message(errno));
  }
  refuse(wanted, "too many runs of that name");
}

RunFolder RunFolder::open(const std::string& path) {
  if (!fs::is_directory(path)) throw std::runtime_error(path + ": there is no such run folder");
  return RunFolder(path);
}

std::string RunFolder::peer(PeerId id) const {
  const std::string path = fmt::format("{}/peers/{:03}", path_, id);
  make_folder(path);
  return path;
}

void RunFolder::write(const std::string& name, const std::string& text) const {
  PosixDisk disk;
  const std::string path = file(name);
  const std::string temporary = path + ".tmp";
  Verdict wrong = disk.write(temporary, std::as_bytes(std::span(text)));
  if (wrong.empty()) wrong = disk.rename(temporary, path);
  if (wrong.empty()) return;
  (void)disk.remove(temporary);
  throw std::runtime_error(fmt::format("{}: cannot be written: {}", path, wrong));
}

void write_held_round(const RunFolder& folder, Round round) {
  try {
    folder.write(file_name, Json{{"round", round}}.dump() + "\n");
  } catch (const std::runtime_error&) {
  }
}

std::optional<Round> round_before_loss(const std::string& run_folder) {
  const std::string text = text_of_file(run_folder + "/" + file_name);
  if (text.empty() || lost_peers(run_folder).empty()) return {};
  try {
    return json_integer<Round>(parse_json(text, file_name), "round");
  } catch (const std::exception&) {
    return {};
  }
}

}  // namespace gv
