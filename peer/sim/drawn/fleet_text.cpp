#include "peer/sim/drawn/fleet_text.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace gv {
namespace {

/// Groups keys by the first word of their paths, in order of appearance; the rest of a path is the
/// key within the group.
std::vector<std::pair<std::string, FlatKeys>> sections(const FlatKeys& keys) {
  std::vector<std::pair<std::string, FlatKeys>> sections;
  for (const auto& [path, value] : keys) {
    const std::size_t dot = path.find('.');
    const std::string name = path.substr(0, dot);
    auto at = std::ranges::find(sections, name, [](const auto& each) { return each.first; });
    if (at == sections.end()) at = sections.insert(at, {name, {}});
    at->second.emplace_back(dot == std::string::npos ? "" : path.substr(dot + 1), value);
  }
  return sections;
}

/// Writes the keys on one line.
std::string flow(const FlatKeys& keys) {
  const bool word = keys.size() == 1 && (keys[0].first.empty() || keys[0].first == "kind");
  if (word) return keys[0].second;
  std::string text;
  for (const auto& [name, below] : sections(keys))
    text += (text.empty() ? "{ " : ", ") + name + ": " + flow(below);
  return text + " }";
}

bool is_at(std::string_view path, std::string_view section) {
  return path == section ||
         (path.starts_with(section) && path.size() > section.size() && path[section.size()] == '.');
}

auto find_key(auto& keys, std::string_view path) {
  return std::ranges::find(keys, path, [](const auto& each) { return each.first; });
}

}  // namespace

std::string fleet_text(const FlatKeys& keys) {
  std::string text;
  for (const auto& [name, below] : sections(keys)) text += name + ": " + flow(below) + "\n";
  return text;
}

std::string value_of(const FlatKeys& keys, std::string_view path) {
  const auto at = find_key(keys, path);
  return at == keys.end() ? "" : at->second;
}

void set_key(FlatKeys& keys, std::string_view path, std::string value) {
  const auto at = find_key(keys, path);
  if (at != keys.end())
    at->second = std::move(value);
  else
    keys.emplace_back(path, std::move(value));
}

void erase_keys(FlatKeys& keys, std::string_view path) {
  std::erase_if(keys, [path](const auto& each) { return is_at(each.first, path); });
}

}  // namespace gv
