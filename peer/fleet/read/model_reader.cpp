#include <algorithm>

#include <fmt/format.h>

#include "peer/fleet/data/data_kind.h"
#include "peer/fleet/file/source.h"
#include "peer/fleet/file/value.h"
#include "peer/fleet/read/sections.h"

namespace gv {
namespace {

/// Returns the models that fit, the usual one first.
std::vector<std::string> fitting(DataForm form) {
  std::vector<std::string> kinds;
  for (const ModelRow& row : models())
    if (row.fits_to(form)) kinds.push_back(row.kind);
  return kinds;
}

std::string quoted(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words)
    text += fmt::format("{}`{}`", text.empty() ? "" : " or ", word);
  return text;
}

class ModelReader : Readers {
 public:
  ModelReader(Source& source, const Value& root, const std::filesystem::path& folder, Fleet& fleet)
      : Readers(source), root_(root), folder_(folder), fleet_(fleet), model_(fleet.model) {}

  void read(const Value* value) {
    const DataSpec& data = fleet_.data;
    const std::vector<std::string> fits = fitting(form_of(data));
    MapReader map(source_, value, "model", true);
    model_.kind = fits.front();
    const Value* kind = map.take("kind");
    set(kind, model_.kind, choice(kinds()));
    if (std::ranges::find(fits, model_.kind) == fits.end())
      source_.error(kind != nullptr ? *kind : root_,
                    fmt::format("model `{}` does not fit data `{}`{}", model_.kind, data.kind,
                                data.table.regression ? ", whose task is a regression" : ""),
                    "use " + quoted(fits));
    const ModelRow& row = find_model(model_.kind);
    for (const ModelKey& key : row.keys)
      if (const Value* given = map.take(key.name)) read_key(key, *given);
    read_start(source_, map.take("start", "none"), folder_, fleet_);
    map.finish();
    if (row.object != nullptr) check_together(row, value);
  }

 private:
  static std::vector<std::string> kinds() {
    std::vector<std::string> all;
    for (const ModelRow& row : models()) all.push_back(row.kind);
    return all;
  }

  std::optional<std::uint32_t> read_number(const ModelKey& key, const Value& value) {
    const auto number = read_count(source_, value, key.least, key.most);
    if (!number) return std::nullopt;
    return static_cast<std::uint32_t>(*number);
  }

  void read_key(const ModelKey& key, const Value& value) {
    if (std::holds_alternative<Widths>(key.usual)) return read_widths(key, value);
    if (std::holds_alternative<std::string>(key.usual)) {
      if (auto word = read_choice(source_, value, key.words)) model_.values[key.name] = *word;
    } else if (const auto number = read_number(key, value)) {
      model_.values[key.name] = *number;
    }
  }

  void read_widths(const ModelKey& key, const Value& value) {
    if (value.kind != Value::Kind::sequence || value.items.empty())
      return source_.error(value, "expected a list: " + key.help);
    Widths widths;
    for (const Value& item : value.items)
      if (const auto number = read_number(key, item)) widths.push_back(*number);
    if (widths.size() == value.items.size()) model_.values[key.name] = widths;
  }

  /// Checks the combination of keys, each of which is valid alone.
  void check_together(const ModelRow& row, const Value* map) {
    const auto objection = row.object(model_);
    if (!objection) return;
    const Value::Entry* entry = nullptr;
    for (const ModelKey& key : row.keys)
      if (map != nullptr && (entry == nullptr || key.name == objection->key))
        if (const Value::Entry* given = map->find(key.name)) entry = given;
    source_.error(entry != nullptr ? entry->value : root_, objection->what, objection->help);
  }

  const Value& root_;
  const std::filesystem::path& folder_;
  Fleet& fleet_;
  ModelSpec& model_;
};

}  // namespace

/// Reads `model.start`; only the file's content counts, not its path.
void read_start(Source& source,
                const Value* value,
                const std::filesystem::path& folder,
                Fleet& fleet) {
  if (value == nullptr) return;
  fleet.start = read_path(source, *value, folder);
  if (fleet.start.empty()) return;
  if (const std::string missing = no_file(fleet.start); !missing.empty())
    return source.error(*value, fmt::format("no such file: {}", missing),
                        "name a model.safetensors of a run, or an .npz of named tensors");
  try {
    fleet.start_content = content_of({fleet.start});
  } catch (const std::exception& e) {
    source.error(*value, e.what());
  }
}

void read_model(Source& source,
                const Value& root,
                const Value* value,
                const std::filesystem::path& folder,
                Fleet& fleet) {
  ModelReader(source, root, folder, fleet).read(value);
}

}  // namespace gv
