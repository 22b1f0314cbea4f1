#include "peer/agent/fleet_copy.h"

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
constexpr std::string_view file_prefix = "file:";

struct NamedPath {
  std::string key, prefix;
  fs::path written;  ///< in the file
  fs::path path;     ///< here, absolute
};

/// What the file names below its own folder. A value that is no path of something that is there is
/// some other word.
std::vector<NamedPath> named_paths(const std::string& fleet, const std::vector<std::string>& sets) {
  const fs::path folder = fs::absolute(fleet).parent_path();
  std::vector<NamedPath> all;
  for (const auto& [key, value] : fleet_keys(fleet, sets)) {
    const bool graph = key.starts_with("topology.");
    const bool file = key == "links.file" || key == "model.start";
    if (!graph && !file && !key.starts_with("data.")) continue;
    const std::string prefix(value.starts_with(file_prefix) ? file_prefix : "");
    const std::string name = value.substr(prefix.size());
    std::error_code none;
    const bool word = key.ends_with(".kind") && prefix.empty();
    if (name.empty() || word || !fs::exists(folder / name, none)) continue;
    all.push_back({key, prefix, name, (folder / name).lexically_normal()});
  }
  return all;
}

bool travels(const NamedPath& named) {
  return !named.key.starts_with("data.") && fs::is_regular_file(named.path);
}

std::string name_there(const NamedPath& named) {
  return "copied/" + named.key + named.path.extension().string();
}

std::string read_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw std::runtime_error(path.string() + ": cannot be read");
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

std::map<std::string, std::string> copied_files(const std::string& fleet,
                                                const std::vector<std::string>& sets) {
  std::map<std::string, std::string> files{{"fleet.yaml", read_file(fleet)}};
  for (const NamedPath& named : named_paths(fleet, sets))
    if (travels(named)) files[name_there(named)] = read_file(named.path);
  return files;
}

std::vector<std::string> data_paths(const std::string& fleet,
                                    const std::vector<std::string>& sets) {
  std::vector<std::string> paths;
  for (const NamedPath& named : named_paths(fleet, sets))
    if (!travels(named)) paths.push_back(named.path.string());
  return paths;
}

std::vector<std::string> copied_sets(const std::string& fleet,
                                     const std::vector<std::string>& sets) {
  std::vector<std::string> args;
  for (const std::string& set : sets) args.insert(args.end(), {"--set", set});
  for (const NamedPath& named : named_paths(fleet, sets)) {
    if (!travels(named) && named.written == named.path) continue;  // the same there
    const std::string there = travels(named) ? name_there(named) : named.path.string();
    args.insert(args.end(), {"--set", fmt::format("{}={}{}", named.key, named.prefix, there)});
  }
  return args;
}

}  // namespace gv
