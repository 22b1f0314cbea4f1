#include "peer/fleet/data/table_statistics.h"

#include <algorithm>

#include <fmt/format.h>

#include "optim/data/table/table_plan.h"
#include "peer/fleet/file/value.h"
#include "peer/fleet/json/json.h"

namespace gv {
namespace {

constexpr double largest = 3e38;

class StatisticsReader : Readers {
 public:
  explicit StatisticsReader(Source& source) : Readers(source) {}

  DataFacts read(const Value& root) {
    DataFacts facts{.format = "", .target = ""};
    MapReader map(source_, &root, "");
    const Value* version = map.take("version");
    if (version == nullptr || version->text != "1")
      source_.error(version != nullptr ? *version : root, "statistics begin with `version: 1`",
                    "`grapevine data FILE --write stats.yaml` makes them");
    const Value* columns = map.take("columns");
    if (columns == nullptr || columns->kind != Value::Kind::sequence || columns->items.empty())
      source_.error(columns != nullptr ? *columns : root, "expected a list of `columns`");
    else
      for (const Value& item : columns->items) facts.columns.push_back(read_column(item));
    if (const Value* classes = map.take("classes"))
      facts.classes = read_names(*classes, "classes", 2, table_bounds::classes);
    if (const Value* shift = map.take("target_shift")) {
      facts.target_shift = 0;
      set(shift, *facts.target_shift, number(-largest, largest));
    }
    map.finish();
    facts.standardized = true;
    return facts;
  }

 private:
  ColumnFacts read_column(const Value& item) {
    ColumnFacts column;
    MapReader map(source_, &item, "columns");
    const Value* name = map.take("name");
    if (name == nullptr) source_.error(item, "a column needs its `name`");
    set(name, column.name, word());
    const Value* values = map.take("values");
    const Value* mean = map.take("mean");
    const Value* deviation = map.take("deviation");
    map.finish();
    if (values != nullptr) {
      column.levels = read_names(*values, "values", 1, table_bounds::levels);
      if (mean != nullptr || deviation != nullptr)
        source_.error(item, "a category has `values` and no `mean` or `deviation`");
      return column;
    }
    if (mean == nullptr || deviation == nullptr)
      source_.error(item, "a column needs `mean` and `deviation`, or `values` if it is a category");
    set(mean, column.mean, number(-largest, largest));
    set(deviation, column.deviation, number(0, largest));
    return column;
  }

  std::vector<std::string> read_names(const Value& list,
                                      const char* key,
                                      std::size_t least,
                                      std::size_t most) {
    std::vector<std::string> names;
    if (list.kind != Value::Kind::sequence || list.items.size() < least ||
        list.items.size() > most) {
      source_.error(list, fmt::format("expected a list of {} to {} `{}`", least, most, key));
      return names;
    }
    for (const Value& item : list.items) {
      const auto name = read_word(source_, item);
      if (!name) continue;
      if (std::ranges::find(names, *name) != names.end())
        source_.error(item, fmt::format("`{}` is listed twice", *name));
      names.push_back(*name);
    }
    return names;
  }
};

/// Quotes words as in JSON; YAML's double quotes accept JSON's escapes.
std::string list_text(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + Json(word).dump();
  return "[" + text + "]";
}

}  // namespace

DataFacts read_statistics(const std::string& path) {
  Source source(path);
  const Value root = source.parse_file();
  DataFacts facts;
  if (source.diagnostics().empty()) facts = StatisticsReader(source).read(root);
  if (!source.diagnostics().empty()) throw FleetError(path, source.diagnostics());
  return facts;
}

std::vector<std::string> parts_here(const DataSpec& data, PeerId peers) {
  std::vector<std::string> here;
  for (PeerId i = 0; data.per_peer() && i < peers; ++i)
    if (no_file(data.table_file(i)).empty()) here.push_back(data.table_file(i));
  return here;
}

bool lacks_parts(const DataSpec& data, PeerId peers) {
  return data.per_peer() && parts_here(data, peers).size() < peers;
}

std::string statistics_text(const DataFacts& facts) {
  std::string text =
      "# The columns of a table as `grapevine data --write` found them: means and deviations over\n"
      "# the training samples, the values of categories, and the classes.\nversion: 1\ncolumns:\n";
  for (const ColumnFacts& column : facts.columns)
    text += column.is_category()
                ? fmt::format("  - {{ name: {}, values: {} }}\n", Json(column.name).dump(),
                              list_text(column.levels))
                : fmt::format("  - {{ name: {}, mean: {}, deviation: {} }}\n",
                              Json(column.name).dump(), column.mean, column.deviation);
  if (facts.target_shift) text += fmt::format("target_shift: {}\n", *facts.target_shift);
  if (!facts.classes.empty()) text += fmt::format("classes: {}\n", list_text(facts.classes));
  return text;
}

}  // namespace gv
