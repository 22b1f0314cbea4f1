#include "peer/fleet/reference/key_table.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "gossip/algorithm.h"
#include "graph/schedules.h"
#include "graph/topologies.h"
#include "optim/models/model.h"
#include "peer/fleet/data/data_kind.h"

namespace gv {
namespace {

/// Returns the number with commas if it is whole and below 1e9, otherwise with an exponent if
/// needed.
std::string number_text(double value) {
  std::string text = fmt::format("{:g}", value);
  if (value == std::floor(value) && std::abs(value) < 1e9) {
    text = fmt::format("{:.0f}", value);
    for (std::size_t at = text.size(); at > (value < 0 ? 4 : 3); at -= 3) text.insert(at - 3, ",");
    return text;
  }
  if (std::stod(text) != value) text = fmt::format("{}", value);  // as 0.999999999 is not 1
  const std::size_t e = text.find('e');
  if (e == std::string::npos) return text;
  std::string power = text.substr(e + 2);
  power.erase(0, power.find_first_not_of('0'));
  return text.substr(0, e + 1) + (text[e + 1] == '-' ? "-" : "") + power;
}

/// Order of related keys; other keys of a kind follow.
constexpr std::array<std::string_view, 33> order{
    "data",      "kind",       "dir",         "fallback",
    "file",      "test",       "test_file",   "train",
    "samples",   "held_out",   "validation",  "header",
    "target",    "task",       "standardize", "standardize.file",
    "one_hot",   "ignore",     "dates",       "decimal",
    "missing",   "context",    "augment",     "features",
    "classes",   "separation", "nonzeros",    "noise",
    "dimension", "hessian",    "spread",      "start",
    "name"};

std::string takes_of(const DataKey& key) {
  if (!key.number) return key.takes;
  const NumberRange& range = *key.number;
  const std::string what = !key.takes.empty() ? key.takes
                           : range.whole      ? "a whole number"
                                              : "a number";
  return fmt::format("{}, {}", what, range_text(range.least, range.most));
}

/// Collects a key's texts for several kinds: each text once, after the kinds to which it applies.
class Said {
 public:
  /// Adds a text; an empty `kind` stands for all kinds.
  void add(const std::string& kind, const std::string& text) {
    if (text.empty()) return;
    const auto same = std::ranges::find(parts_, text, &Part::text);
    if (same == parts_.end())
      parts_.push_back({{kind}, text});
    else if (std::ranges::find(same->kinds, kind) == same->kinds.end())
      same->kinds.push_back(kind);
  }
  /// Returns "16; teacher 64": the first text is the default and has no head.
  std::string others(const char* behind_head) const {
    std::string line;
    for (const Part& part : parts_)
      line +=
          line.empty() ? part.text : fmt::format("; {}{}{}", part.head(), behind_head, part.text);
    return line;
  }
  /// Returns "idx, cifar10: the published files. images: a folder for each class."
  std::string sentences() const {
    std::string line;
    for (const Part& part : parts_)
      line += fmt::format("{}{}{}{}", line.empty() ? "" : " ", part.head(),
                          part.head().empty() ? "" : ": ",
                          part.text.ends_with(".") ? part.text : part.text + ".");
    return line;
  }

 private:
  struct Part {
    std::vector<std::string> kinds;
    std::string text;

    std::string head() const { return fmt::format("{}", fmt::join(kinds, ", ")); }
  };
  std::vector<Part> parts_;
};

/// One row for all kinds with a key of this name.
struct Row {
  Said takes, usual, meaning;
  std::string example;

  void add(const std::string& kind, const DataKey& key) {
    const std::string& whose = key.whose.empty() ? kind : key.whose;
    takes.add(whose, takes_of(key));
    usual.add(whose, key.number ? fmt::format("{:g}", key.number->usual) : key.usual);
    meaning.add(whose, key.help);
    if (example.empty()) example = key.example;
  }
};

class Rows {
 public:
  Rows() {
    for (const PlainKey& key : common_data_keys()) add(key);
    for (const DataKind& kind : data_kinds()) add(kind);
  }

  std::vector<KeyRow> in_order() const {
    std::vector<std::string> names = names_;
    std::ranges::stable_sort(names, {}, [](const std::string& name) {
      return std::ranges::find(order, name) - order.begin();
    });
    std::vector<KeyRow> all;
    for (const std::string& name : names) {
      const Row& row = rows_.at(name);
      all.push_back({.key = name == "data" ? name : "data." + name,
                     .takes = row.takes.others(": "),
                     .usual = row.usual.others(" "),
                     .meaning = row.meaning.sentences(),
                     .example = row.example});
    }
    return all;
  }

 private:
  Row& row(const std::string& name) {
    const auto [at, first] = rows_.try_emplace(name);
    if (first) names_.push_back(name);
    return at->second;
  }
  void add(const PlainKey& plain) {
    KeyRow key = row_of(plain);
    const std::size_t dot = key.key.find('.');
    row(dot == std::string::npos ? key.key : key.key.substr(dot + 1))
        .add("", {.name = "",
                  .takes = std::move(key.takes),
                  .usual = std::move(key.usual),
                  .help = std::move(key.meaning),
                  .example = std::move(key.example)});
  }
  void add(const DataKind& kind) {
    row("kind").meaning.add(kind.kind, kind.summary);
    for (const DataKey& key : kind.keys) row(key.name).add(kind.kind, key);
    if (kind.validation)
      row("validation")
          .takes.add(kind.kind, kind.validation->folder ? "also a folder" : "also a file");
  }

  std::map<std::string, Row> rows_;
  std::vector<std::string> names_;
};

/// Returns "idx, digits or table".
std::string kinds_text() {
  std::string text;
  const std::vector<DataKind>& kinds = data_kinds();
  for (std::size_t k = 0; k < kinds.size(); ++k)
    text += (k == 0 ? "" : k + 1 == kinds.size() ? " or " : ", ") + kinds[k].kind;
  return text;
}

/// Removes the parentheses that mark a text that is no value.
std::string bare(const std::string& usual) {
  return usual.starts_with('(') ? usual.substr(1, usual.size() - 2) : usual;
}

/// Collects a line for each meaning of a key, which may differ between methods, models and graphs.
class Collected {
 public:
  void add(const std::string& key,
           const std::string& whose,
           const std::string& takes,
           const std::string& usual,
           const std::string& help,
           const std::string& example) {
    auto [it, first] = rows_.try_emplace(key);
    KeyRow& row = it->second;
    if (first) {
      row = {.key = key,
             .takes = takes,
             .usual = usual,
             .meaning = "",
             .example = example,
             .kinds = {}};
      order_.push_back(key);
    }
    if (row.takes != takes) row.takes = "by the kind, see below";
    if (row.usual != usual) row.usual = "(by the kind, see below)";
    const std::string line = usual.empty()
                                 ? fmt::format("{}: {} ({})", whose, help, takes)
                                 : fmt::format("{}: {} ({}; {})", whose, help, takes, bare(usual));
    if (row.meaning.find(line) != std::string::npos) return;
    row.meaning += (row.meaning.empty() ? "" : "\n") + line;
    row.kinds.push_back({whose, help, takes, bare(usual)});
  }
  std::vector<KeyRow> all() {
    std::vector<KeyRow> rows;
    for (const std::string& key : order_) rows.push_back(std::move(rows_.at(key)));
    return rows;
  }

 private:
  std::map<std::string, KeyRow> rows_;
  std::vector<std::string> order_;
};

std::string number_in(bool whole, double least, double most) {
  return fmt::format("{}, {}", whole ? "a whole number" : "a number", range_text(least, most));
}

void add_methods(Collected& to) {
  for (const AlgorithmRow* row : algorithms())
    for (const Option& option : row->options) {
      const std::string usual = text_of(option, option.usual);
      const std::string order = row->order.empty() ? "" : fmt::format("order: {}, ", row->order);
      to.add(
          fmt::format("algorithm.{}", option.name), std::string(row->kind),
          option.words.empty() ? number_in(option.whole, option.least, option.most)
                               : fmt::format("{}", fmt::join(option.words, ", ")),
          usual, std::string(option.help),
          fmt::format("algorithm: {{ kind: {}, {}{}: {} }}", row->kind, order, option.name, usual));
    }
}

std::string text_of(const ModelValue& value) {
  if (const auto* word = std::get_if<std::string>(&value)) return *word;
  if (const auto* number = std::get_if<std::uint32_t>(&value)) return std::to_string(*number);
  return fmt::format("[{}]", fmt::join(std::get<Widths>(value), ", "));
}

std::string takes_of(const ModelKey& key) {
  if (std::holds_alternative<std::string>(key.usual))
    return fmt::format("{}", fmt::join(key.words, ", "));
  const bool list = std::holds_alternative<Widths>(key.usual);
  return fmt::format("{}, {}", list ? "a list of whole numbers" : "a whole number",
                     range_text(key.least, key.most));
}

void add_models(Collected& to) {
  for (const ModelRow& row : models())
    for (const ModelKey& key : row.keys)
      to.add("model." + key.name, row.kind, takes_of(key), text_of(key.usual), key.help,
             fmt::format("model: {}", row.example));
}

std::string takes_of(const GraphParameter& row) {
  switch (row.kind) {
    case GraphParameter::Kind::count:
      return number_in(true, row.least, row.most);
    case GraphParameter::Kind::number:
      return number_in(false, row.least, row.most);
    case GraphParameter::Kind::seed:
      return "a whole number of 64 bits";
    case GraphParameter::Kind::shape:
      return "[rows, columns]";
    case GraphParameter::Kind::path:
      return "a file";
    case GraphParameter::Kind::graph:
      return "a topology";
  }
  return "";
}

/// Returns the parameters as a map: { kind: torus, shape: [4, 4] }.
std::string map_of(std::string_view family,
                   std::span<const GraphParameter> rows,
                   std::string_view example) {
  const GraphParameters values = parse_parameters(family, rows, example);
  std::string text = fmt::format("{{ kind: {}", family);
  for (const GraphParameter& row : rows) {
    std::string value = values.value_text(row.name);
    if (row.kind == GraphParameter::Kind::shape)
      value = fmt::format("[{}, {}]", values.shape().rows, values.shape().columns);
    if (row.kind == GraphParameter::Kind::graph) value = "\"" + value + "\"";
    text += fmt::format(", {}: {}", row.name, value);
  }
  return text + " }";
}

/// Returns the default of a parameter without one in its row; files and topologies have none.
const char* usual_of(GraphParameter::Kind kind) {
  return kind == GraphParameter::Kind::shape ? "(as square as possible)" : "";
}

void add_graph(Collected& to,
               std::string_view family,
               std::span<const GraphParameter> parameters,
               std::string_view example) {
  for (const GraphParameter& row : parameters) {
    const bool number = row.kind == GraphParameter::Kind::count ||
                        row.kind == GraphParameter::Kind::number ||
                        row.kind == GraphParameter::Kind::seed;
    to.add(fmt::format("topology.{}", row.name), std::string(family), takes_of(row),
           number ? fmt::format("{:g}", row.initial) : usual_of(row.kind), std::string(row.help),
           fmt::format("topology: {}", map_of(family, parameters, example)));
  }
}

void add_graphs(Collected& to) {
  for (const TopologyFamily* family : topology_families())
    add_graph(to, family->name, family->parameters, family->example);
  for (const ScheduleFamily* family : schedule_families())
    add_graph(to, family->name, family->parameters, family->example);
}

std::string takes_of(const Takes& row) {
  constexpr std::string_view place = "{range}";
  std::string takes = with_launchers(row.text);
  if (const std::size_t at = takes.find(place); at != std::string::npos)
    takes.replace(at, place.size(), range_text(row.least, row.most));
  return takes;
}

std::vector<KeyRow> make_all() {
  std::vector<KeyRow> all;
  const auto add = [&](std::span<const PlainKey> plain) {
    for (const PlainKey& row : plain) all.push_back(row_of(row));
  };
  add(run_keys());
  std::ranges::copy(data_keys(), std::back_inserter(all));
  for (const PlainKey& row : agent_keys()) {
    all.push_back(row_of(row));
    all.back().example += "\ndata: { kind: environment, name: cartpole }";
  }
  add(train_keys());
  std::ranges::copy(registered_keys(), std::back_inserter(all));
  return all;
}

}  // namespace

std::string range_text(double least, double most) {
  return fmt::format("{} to {}", number_text(least), number_text(most));
}

std::vector<KeyRow> data_keys() {
  std::vector<KeyRow> all = Rows().in_order();
  KeyRow& kind = *std::ranges::find(all, "data.kind", &KeyRow::key);
  kind.takes = kinds_text();
  kind.usual = DataSpec().kind;
  kind.example = "data: { kind: digits }";
  for (const PlainKey& key : divided_data_keys()) all.push_back(row_of(key));
  return all;
}

KeyRow row_of(const PlainKey& key) {
  return {.key = std::string(key.key),
          .takes = takes_of(key.takes),
          .usual = std::string(key.usual),
          .meaning = with_launchers(key.meaning),
          .example = std::string(key.example)};
}

std::vector<KeyRow> registered_keys() {
  Collected collected;
  add_models(collected);
  add_methods(collected);
  add_graphs(collected);
  return collected.all();
}

const std::vector<KeyRow>& fleet_file_keys() {
  static const std::vector<KeyRow> all = make_all();
  return all;
}

}  // namespace gv
