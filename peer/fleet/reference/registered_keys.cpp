#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "gossip/algorithm.h"
#include "graph/schedules.h"
#include "graph/topologies.h"
#include "optim/models/model.h"
#include "peer/fleet/keys/key_ranges.h"
#include "peer/fleet/reference/key_table.h"
#include "peer/fleet/reference/range_text.h"

namespace gv {
namespace {

/// Takes off the parentheses in which what is no value stands.
std::string bare(const std::string& usual) {
  return usual.starts_with('(') ? usual.substr(1, usual.size() - 2) : usual;
}

/// Keeps a line for each meaning of a key, which may be another one in each method, model or graph.
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
          fmt::format("algorithm.{}", option.name),
          std::string(row->kind),
          option.words.empty() ? number_in(option.whole, option.least, option.most)
                               : fmt::format("{}", fmt::join(option.words, ", ")),
          usual,
          std::string(option.help),
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
  return fmt::format("{}, {}",
                     list ? "a list of whole numbers" : "a whole number",
                     range_text(key.least, key.most));
}

void add_models(Collected& to) {
  for (const ModelRow& row : models())
    for (const ModelKey& key : row.keys)
      to.add("model." + key.name,
             row.kind,
             takes_of(key),
             text_of(key.usual),
             key.help,
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

/// Writes them as keys of a map: { kind: torus, shape: [4, 4] }.
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
    to.add(fmt::format("topology.{}", row.name),
           std::string(family),
           takes_of(row),
           number ? fmt::format("{:g}", row.initial) : usual_of(row.kind),
           std::string(row.help),
           fmt::format("topology: {}", map_of(family, parameters, example)));
  }
}

void add_graphs(Collected& to) {
  for (const TopologyFamily* family : topology_families())
    add_graph(to, family->name, family->parameters, family->example);
  for (const ScheduleFamily* family : schedule_families())
    add_graph(to, family->name, family->parameters, family->example);
}

std::string takes_of(const PlainKey& key) {
  constexpr std::string_view place = "{range}";
  std::string takes = with_launchers(key.takes);
  if (const std::size_t at = takes.find(place); at != std::string::npos) {
    const KeyRange& range = key_range(key.key);
    takes.replace(at, place.size(), range_text(range.least, range.most));
  }
  return takes;
}

std::vector<KeyRow> make_all() {
  std::vector<KeyRow> all;
  const auto add = [&](std::span<const PlainKey> plain) {
    for (const PlainKey& row : plain) all.push_back(row_of(row));
  };
  add(run_keys());
  std::ranges::copy(data_keys(), std::back_inserter(all));
  add(agent_keys());
  add(train_keys());
  std::ranges::copy(registered_keys(), std::back_inserter(all));
  return all;
}

}  // namespace

KeyRow row_of(const PlainKey& place) {
  const PlainKey& key = place.takes.empty() ? word_key(place.key) : place;
  return {.key = std::string(key.key),
          .takes = takes_of(key),
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
