#include "peer/launch/agent/facts/data_look.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include <fmt/format.h>
#include <xxhash.h>

#include "gpu/cuda_replica.h"
#include "optim/printable.h"
#include "peer/fleet/json/fields.h"

namespace gv {

template <class V>
void fields(V& v, DataLook& look) {
  constexpr std::size_t most_devices = 64;
  v("data", look.data), v("free_bytes", look.free_bytes);
  if (V::reads && v.has("devices")) look.devices.emplace();
  if (look.devices) v.first(most_devices, "devices", *look.devices), v("no_device", look.no_device);
}

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

void add_devices(DataLook& look) {
  const CudaStatus status = cuda_status();
  look.devices.emplace();
  for (const CudaDevice& device : status.devices)
    look.devices->push_back(
        {device.number, device.name, static_cast<std::uint64_t>(device.memory_bytes)});
  if (status.devices.empty()) look.no_device = status.problem;
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
  std::error_code unknown;
  DataLook look{.free_bytes = fs::space(folder, unknown).available};
  for (const std::string& path : paths) look.data.push_back(digests_of(path));
  if (devices) add_devices(look);
  return to_json(look).dump();
}

DataLook parse_look(const std::string& text, std::size_t paths) {
  const JsonValue json = parse_json(text, "what an agent saw");
  if (json.find("error") != nullptr)
    throw std::runtime_error(printable(json_text(json, "error"), 300));
  DataLook look;
  read_json(json, "", look);
  if (look.data.size() != paths) throw std::runtime_error("an agent answered another question");
  return look;
}

}  // namespace gv
