#include "peer/fleet/flat_keys.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace gv {
namespace {

/// Keys for which a word is short for a map with this `kind`, as in the readers.
constexpr std::array short_for_kind{std::string_view("algorithm"),
                                    std::string_view("algorithm.codec"),
                                    std::string_view("data"),
                                    std::string_view("data.partition"),
                                    std::string_view("model"),
                                    std::string_view("topology"),
                                    std::string_view("train.optimizer"),
                                    std::string_view("train.optimizer.schedule")};

/// Writes a value on one line: `[0, 1]`, `{ host: anna, count: 2 }`.
std::string flow_text(const Value& value) {
  if (value.kind == Value::Kind::scalar) return value.text;
  if (value.kind == Value::Kind::null) return "";
  std::string text;
  for (const Value& item : value.items) text += (text.empty() ? "" : ", ") + flow_text(item);
  if (value.kind == Value::Kind::sequence) return "[" + text + "]";
  for (const Value::Entry& entry : value.entries)
    text += (text.empty() ? "" : ", ") + entry.key + ": " + flow_text(entry.value);
  return text.empty() ? "{}" : "{ " + text + " }";
}

void flatten(const Value& value, const std::string& path, FlatKeys& keys) {
  if (value.kind == Value::Kind::map && !value.entries.empty()) {
    for (const Value::Entry& entry : value.entries)
      flatten(entry.value, path.empty() ? entry.key : path + "." + entry.key, keys);
    return;
  }
  if (path.empty()) return;
  const bool word = value.kind == Value::Kind::scalar;
  const bool kind = word && std::ranges::find(short_for_kind, path) != short_for_kind.end();
  keys.emplace_back(kind ? path + ".kind" : path, flow_text(value));
}

}  // namespace

FlatKeys flat_keys(const Value& root) {
  FlatKeys keys;
  flatten(root, "", keys);
  return keys;
}

FlatKeys fleet_keys(const std::string& path, const std::vector<std::string>& sets) {
  Source source(path);
  Value root = source.parse_file();
  if (source.diagnostics().empty())
    for (const std::string& argument : sets) source.apply_set(root, argument);
  if (!source.diagnostics().empty()) throw FleetError(path, source.diagnostics());
  return flat_keys(root);
}

}  // namespace gv
