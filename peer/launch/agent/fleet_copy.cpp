#include "peer/launch/agent/fleet_copy.h"

#include <array>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <stdexcept>

#include <fmt/format.h>

#include "peer/fleet/flat_keys.h"

namespace gv {
namespace {

namespace fs = std::filesystem;
/// The prefixes of a path that stands in one word: `topology: file:office.edges`.
constexpr std::array<std::string_view, 2> file_prefixes{"file:", "matrices:"};

constexpr std::uint64_t most_pushed_bytes = std::uint64_t{256} << 20;

struct NamedPath {
  std::string key, prefix;
  fs::path written;  ///< in the file
  fs::path path;     ///< here, absolute
  bool travels = false;
};

/// The paths that the file names below its own folder, and where else its data are.
struct NamedPaths {
  std::vector<NamedPath> all{};
  std::string folder{};  ///< of the data on that machine; "": as they lie here
};

bool is_data(const std::string& key) {
  return key.starts_with("data.");
}

std::string prefix_of(const std::string& value) {
  for (const std::string_view prefix : file_prefixes)
    if (value.starts_with(prefix)) return std::string(prefix);
  return "";
}

/// A value that is no path of something that is there is some other word; `{id}` stands for files
/// of which each machine has its own.
NamedPaths named_paths(const std::string& fleet,
                       const std::vector<std::string>& sets,
                       const std::string& host) {
  const fs::path folder = fs::absolute(fleet).parent_path();
  NamedPaths paths;
  bool push = false;
  for (const auto& [key, value] : fleet_keys(fleet, sets)) {
    push = push || (key == "launch.data" && value == "push");
    if (!host.empty() && key == "hosts." + host + ".data") paths.folder = value;
    const bool graph = key.starts_with("topology.");
    const bool file = key == "links.file" || key == "model.start" || key == "plugin";
    if (!graph && !file && !is_data(key)) continue;
    const std::string prefix = prefix_of(value);
    const std::string name = value.substr(prefix.size());
    std::error_code none;
    const bool word = key.ends_with(".kind") && prefix.empty();
    const bool own = key == "data.file" && name.find("{id}") != std::string::npos;
    if (name.empty() || word || (!own && !fs::exists(folder / name, none))) continue;
    paths.all.push_back({key, prefix, name, (folder / name).lexically_normal()});
  }
  for (NamedPath& named : paths.all)
    named.travels = is_data(named.key) ? push : fs::is_regular_file(named.path);
  return paths;
}

std::string name_there(const NamedPath& named) {
  return "copied/" + named.key + named.path.extension().string();
}

/// Below the folder that the host has for it, data have the name that the fleet file gives them.
std::string data_path_there(const NamedPath& named, const std::string& folder) {
  if (folder.empty()) return named.path.string();
  const fs::path& name = named.written;
  return (fs::path(folder) / (name.is_absolute() ? name.filename() : name))
      .lexically_normal()
      .string();
}

std::string read_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw std::runtime_error(path.string() + ": cannot be read");
  return {std::istreambuf_iterator<char>(in), {}};
}

/// A file, or all files below a folder.
void add_files(const NamedPath& named, std::map<std::string, std::string>& files) {
  const std::string name = name_there(named);
  if (!fs::is_directory(named.path)) {
    files[name] = read_file(named.path);
    return;
  }
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(named.path))
    if (entry.is_regular_file())
      files[name + "/" + entry.path().lexically_relative(named.path).generic_string()] =
          read_file(entry.path());
}

/// Throws where the data are more than may be sent, before any of it is read.
void check_size(const std::vector<NamedPath>& all) {
  std::uint64_t bytes = 0;
  for (const NamedPath& named : all) {
    if (!named.travels || !is_data(named.key)) continue;
    if (!fs::is_directory(named.path)) {
      bytes += fs::file_size(named.path);
      continue;
    }
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(named.path))
      if (entry.is_regular_file()) bytes += entry.file_size();
  }
  if (bytes <= most_pushed_bytes) return;
  throw std::runtime_error(fmt::format(
      "the data are {} MB, and 256 MB at most are sent to other machines\nhelp:  leave out "
      "`launch: {{ data: push }}` and put them on each host, at the same path or in the folder "
      "that "
      "`hosts: {{ NAME: {{ data: FOLDER }} }}` says",
      bytes / 1'000'000));
}

}  // namespace

std::map<std::string, std::string> copied_files(const std::string& fleet,
                                                const std::vector<std::string>& sets) {
  std::map<std::string, std::string> files{{"fleet.yaml", read_file(fleet)}};
  const NamedPaths paths = named_paths(fleet, sets, "");
  check_size(paths.all);
  for (const NamedPath& named : paths.all)
    if (named.travels) add_files(named, files);
  return files;
}

std::vector<std::string> data_paths(const std::string& fleet,
                                    const std::vector<std::string>& sets,
                                    const std::string& host) {
  std::vector<std::string> there;
  const NamedPaths paths = named_paths(fleet, sets, host);
  std::error_code none;
  for (const NamedPath& named : paths.all)
    if (!named.travels && fs::exists(named.path, none))
      there.push_back(is_data(named.key) ? data_path_there(named, paths.folder)
                                         : named.path.string());
  return there;
}

std::vector<std::string> copied_sets(const std::string& fleet,
                                     const std::vector<std::string>& sets,
                                     const std::string& host) {
  std::vector<std::string> args;
  for (const std::string& set : sets) args.insert(args.end(), {"--set", set});
  const NamedPaths paths = named_paths(fleet, sets, host);
  for (const NamedPath& named : paths.all) {
    const std::string there = named.travels        ? name_there(named)
                              : is_data(named.key) ? data_path_there(named, paths.folder)
                                                   : named.path.string();
    if (there == named.written) continue;  // the same there
    args.insert(args.end(), {"--set", fmt::format("{}={}{}", named.key, named.prefix, there)});
  }
  return args;
}

}  // namespace gv
