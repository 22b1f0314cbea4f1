#include "peer/launch/agent/data_look.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include <fmt/format.h>
#include <xxhash.h>

#include "gpu/cuda_replica.h"
#include "optim/printable.h"
#include "peer/fleet/json/json.h"

namespace gv {
namespace {

namespace fs = std::filesystem;
constexpr std::uint64_t most_content_bytes = std::uint64_t{1} << 30;
// Limits of an answer.
constexpr std::size_t most_files = 1000;
constexpr std::size_t most_name_bytes = 100'000;

std::string content_digest(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw std::runtime_error(path + ": cannot be read");
  XXH3_state_t state;
  XXH3_128bits_reset(&state);
  std::vector<char> piece(std::size_t{1} << 20);
  while (in) {
    in.read(piece.data(), static_cast<std::streamsize>(piece.size()));
    XXH3_128bits_update(&state, piece.data(), static_cast<std::size_t>(in.gcount()));
  }
  if (in.bad()) throw std::runtime_error(path + ": cannot be read");
  const XXH128_hash_t hash = XXH3_128bits_digest(&state);
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

/// Returns names relative to the path, sorted because folders list their files in any order.
std::vector<std::string> files_below(const std::string& path) {
  if (!fs::is_directory(path)) return {""};
  std::vector<std::string> names;
  for (const auto& entry : fs::recursive_directory_iterator(path))
    if (entry.is_regular_file()) names.push_back(fs::relative(entry.path(), path).generic_string());
  std::ranges::sort(names);
  return names;
}

Json json_of(const std::vector<FileDigest>& files) {
  Json rows = Json::array();
  for (const FileDigest& file : files)
    rows.push_back(Json{{"name", file.name}, {"bytes", file.bytes}, {"digest", file.digest}});
  return rows;
}

void add_devices(Json& look) {
  const CudaStatus status = cuda_status();
  Json rows = Json::array();
  for (const CudaDevice& device : status.devices)
    rows.push_back(Json{{"number", device.number},
                        {"name", device.name},
                        {"memory_bytes", static_cast<std::uint64_t>(device.memory_bytes)}});
  look["devices"] = rows;
  look["no_device"] = status.devices.empty() ? status.problem : "";
}

void read_devices(const JsonValue& json, DataLook& look) {
  constexpr std::size_t most_devices = 64;
  const JsonValue* const rows = json.find("devices");
  if (rows == nullptr) return;
  look.devices.emplace();
  for (const JsonValue& row : rows->items)
    if (look.devices->size() < most_devices)
      look.devices->push_back({json_integer<int>(row, "number"), json_text(row, "name"),
                               json_integer<std::uint64_t>(row, "memory_bytes")});
  look.no_device = json_text(json, "no_device");
}

}  // namespace

std::optional<std::vector<FileDigest>> digests_of(const std::string& path) {
  std::error_code unknown;
  if (!fs::exists(path, unknown)) return std::nullopt;
  std::vector<FileDigest> files;
  std::uint64_t left = most_content_bytes;
  std::size_t name_bytes = 0;
  for (const std::string& name : files_below(path)) {
    name_bytes += name.size();
    if (files.size() == most_files || name_bytes > most_name_bytes) break;
    const std::string file = name.empty() ? path : path + "/" + name;
    const std::uint64_t bytes = fs::file_size(file);
    const bool look = bytes <= left;
    if (look) left -= bytes;
    files.push_back({name, bytes, look ? content_digest(file) : ""});
  }
  return files;
}

std::string look_text(const std::vector<std::string>& paths,
                      const std::string& folder,
                      bool devices) {
  Json data = Json::array();
  for (const std::string& path : paths) {
    const auto files = digests_of(path);
    data.push_back(files ? json_of(*files) : Json(nullptr));
  }
  std::error_code unknown;
  Json look{{"data", data}, {"free_bytes", fs::space(folder, unknown).available}};
  if (devices) add_devices(look);
  return look.dump();
}

DataLook parse_look(const std::string& text, std::size_t paths) {
  const JsonValue json = parse_json(text, "what an agent saw");
  if (json.find("error") != nullptr)
    throw std::runtime_error(printable(json_text(json, "error"), 300));
  DataLook look{.free_bytes = json_integer<std::uint64_t>(json, "free_bytes")};
  for (const JsonValue& files : json_member(json, "data").items) {
    if (files.kind == JsonValue::Kind::null) {
      look.data.push_back(std::nullopt);
      continue;
    }
    std::vector<FileDigest>& all = look.data.emplace_back().emplace();
    for (const JsonValue& file : files.items)
      all.push_back({json_text(file, "name"), json_integer<std::uint64_t>(file, "bytes"),
                     json_text(file, "digest")});
  }
  if (look.data.size() != paths) throw std::runtime_error("an agent answered another question");
  read_devices(json, look);
  return look;
}

}  // namespace gv
