#include "peer/launch/agent/transport/host_folders.h"

#include <algorithm>
#include <cctype>
#include <exception>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include <fmt/format.h>

#include "peer/fleet/json/json.h"

namespace gv {
namespace {

constexpr const char* file_name = "hosts.json";
constexpr const char* schema = "grapevine.hosts/1";

/// Checks the name, because it becomes a word in another machine's shell.
bool is_folder_name(const std::string& name) {
  constexpr std::size_t longest = 100;
  const auto usual = [](unsigned char c) { return std::isalnum(c) != 0 || c == '-' || c == '_'; };
  return !name.empty() && name.size() <= longest && name.front() != '-' &&
         std::ranges::all_of(name, usual);
}

HostFolders parse(const std::string& text, const std::string& path) {
  const JsonValue json = parse_json(text, path);
  if (json_text(json, "schema") != schema)
    throw std::runtime_error(fmt::format("its schema is not {}", schema));
  HostFolders hosts;
  for (const JsonValue& row : json_member(json, "hosts").items) {
    const HostFolder folder{json_text(row, "folder"), json_boolean(row, "fetched")};
    if (!is_folder_name(folder.name)) throw std::runtime_error("not the folder of an agent");
    hosts[json_text(row, "host")] = folder;
  }
  return hosts;
}

}  // namespace

HostFolders read_host_folders(const std::string& run_folder) {
  const std::string path = fmt::format("{}/{}", run_folder, file_name);
  std::ifstream in(path);
  if (!in) return {};
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  try {
    return parse(text, path);
  } catch (const std::exception& wrong) {
    throw std::runtime_error(fmt::format("{}: cannot be read: {}", path, wrong.what()));
  }
}

void write_host_folders(const RunFolder& folder, const HostFolders& hosts) {
  Json rows = Json::array();
  for (const auto& [host, there] : hosts)
    rows.push_back(Json{{"host", host}, {"folder", there.name}, {"fetched", there.fetched}});
  folder.write(file_name, Json{{"schema", schema}, {"hosts", rows}}.dump(2) + "\n");
}

}  // namespace gv
