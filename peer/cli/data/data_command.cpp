#include <algorithm>
#include <cmath>
#include <filesystem>
#include <ranges>
#include <stdexcept>
#include <string>

#include <fmt/format.h>

#include "optim/data/data_facts.h"
#include "optim/data/reading/words.h"
#include "optim/printable.h"
#include "optim/rl/environments.h"
#include "peer/cli/fleet_options.h"
#include "peer/cli/written_file.h"
#include "peer/fleet/data/data_kind.h"
#include "peer/fleet/data/table_statistics.h"
#include "peer/model/card/model_card.h"
#include "peer/record/export/exported_run.h"
#include "peer/record/report/screen.h"
#include "peer/runtime/assembly/assembly.h"
#include "peer/runtime/assembly/load_data.h"

namespace gv::cli {
namespace {

constexpr std::size_t width = 80;
constexpr std::size_t most_columns_shown = 40;
constexpr std::size_t most_classes_shown = 20;
constexpr std::size_t most_peers_shown = 32;
constexpr std::size_t bar_columns = 40;
constexpr const char* shades[] = {"·", "░", "▒", "▓", "█"};

using Counts = std::vector<std::uint64_t>;

/// Returns the number of samples of each class among some rows.
template <class Rows>
Counts count_classes(const Dataset& data, const Rows& rows) {
  Counts counts(data.classes);
  for (const std::uint32_t r : rows) ++counts[data.labels[r]];
  return counts;
}

bool has_classes(const Dataset& data) {
  return data.classes > 0 && !data.is_text();
}

/// Returns a text cut or padded to `columns` of the terminal.
std::string fitted(const std::string& text, std::size_t columns) {
  std::string shown = printable(text, 1000);
  if (columns_of(shown) > columns) shown = cut_to_columns(shown, columns - 1) + "…";
  return shown + std::string(columns - columns_of(shown), ' ');
}

std::string bar(double part, std::size_t columns) {
  std::string text;
  const auto length = static_cast<std::size_t>(std::lround(part * static_cast<double>(columns)));
  for (std::size_t k = 0; k < length; ++k) text += "█";
  return text;
}

std::string shape_of(const Dataset& data) {
  if (data.is_text())
    return fmt::format("a text of {} different bytes, windows of {}", data.vocabulary.size(),
                       data.context);
  if (data.is_sparse()) return fmt::format("sparse rows of {} features", data.features);
  if (data.image == ImageShape{}) return fmt::format("rows of {} features", data.features);
  return fmt::format("pictures of {} x {} pixels{}", data.image.width, data.image.height,
                     data.image.channels == 1 ? "" : ", in colour");
}

std::string head(const Assembly& fleet) {
  const Dataset& train = *fleet.data.train;
  const DataFacts* facts = train.facts.get();
  const std::string kind = fleet.fleet.data.kind +
                           (facts != nullptr && !facts->format.empty() ? ", " + facts->format : "");
  const std::string validation =
      fleet.validation ? fmt::format("{} validation, ", fleet.validation->rows) : "";
  std::string text = fmt::format("data   {}: {} train, {}{} test\n       {}\n", kind, train.rows,
                                 validation, fleet.data.test->rows, shape_of(train));
  if (facts == nullptr) return text;
  if (facts->dropped > 0)
    text += fmt::format("       {} left out: a value is missing\n", facts->dropped);
  if (!facts->columns.empty())
    text += facts->standardized
                ? "       numbers are scaled to mean 0 and deviation 1 of the training samples\n"
                : "       numbers are taken as they are\n";
  if (!facts->target.empty())
    text += fmt::format("target {}: {}\n",
                        fitted(facts->target, std::min<std::size_t>(30, columns_of(facts->target))),
                        facts->classes.empty()
                            ? fmt::format("a number; its mean has a test loss of {:.6g}",
                                          loss_of_mean(*fleet.data.test))
                            : fmt::format("{} classes", facts->classes.size()));
  return text;
}

std::string values_text(const ColumnFacts& column) {
  std::string text = fmt::format("{} values: ", column.levels.size());
  for (std::size_t k = 0; k < column.levels.size() && columns_of(text) < width; ++k)
    text += (k == 0 ? "" : ", ") + column.levels[k];
  return text;
}

std::string column_table(const DataFacts& facts) {
  if (facts.columns.empty()) return "";
  std::string text = fmt::format("\n  {}  {:<8} {:>11} {:>11} {:>9}\n", fitted("column", 30),
                                 "type", "mean", "deviation", "missing");
  for (std::size_t k = 0; k < std::min(facts.columns.size(), most_columns_shown); ++k) {
    const ColumnFacts& c = facts.columns[k];
    text += c.date ? fmt::format("  {}  date     {:>11} {:>9.4g} d {:>9}\n", fitted(c.name, 30),
                                 date_text(c.mean), c.deviation, c.missing)
            : c.is_category() ? fmt::format("  {}  category {} {:>9}\n", fitted(c.name, 30),
                                            fitted(values_text(c), 23), c.missing)
                              : fmt::format("  {}  number   {:>11.4g} {:>11.4g} {:>9}\n",
                                            fitted(c.name, 30), c.mean, c.deviation, c.missing);
  }
  if (facts.columns.size() > most_columns_shown)
    text +=
        fmt::format("  and {} more: --json lists all\n", facts.columns.size() - most_columns_shown);
  return text;
}

Counts class_counts(const Dataset& data) {
  return count_classes(data, std::views::iota(0U, static_cast<std::uint32_t>(data.labels.size())));
}

std::string class_table(const Assembly& fleet) {
  const Counts train = class_counts(*fleet.data.train), test = class_counts(*fleet.data.test);
  const auto most = static_cast<double>(std::max<std::uint64_t>(1, std::ranges::max(train)));
  const std::vector<std::string> names = class_names(*fleet.data.train);
  std::size_t wide = 16;  // enough to distinguish ids of 19 digits
  for (std::size_t k = 0; k < std::min(names.size(), most_classes_shown); ++k)
    wide = std::clamp(columns_of(names[k]), wide, std::size_t{30});
  const std::size_t bars = bar_columns + 16 - wide;
  std::string text = fmt::format("\n  {} {:>9} {:>9}\n", fitted("class", wide), "train", "test");
  for (std::size_t k = 0; k < std::min(names.size(), most_classes_shown); ++k)
    text += fmt::format("  {} {:>9} {:>9}  {}\n", fitted(names[k], wide), train[k], test[k],
                        bar(static_cast<double>(train[k]) / most, bars));
  if (names.size() > most_classes_shown)
    text += fmt::format("  and {} more: --json lists all\n", names.size() - most_classes_shown);
  return text;
}

/// Returns a shade for a peer's part of a class, relative to an equal share.
const char* shade_of(std::uint64_t count, std::uint64_t all, std::size_t peers) {
  if (count == 0) return shades[0];
  const double times = static_cast<double>(count) * static_cast<double>(peers) /
                       static_cast<double>(std::max<std::uint64_t>(1, all));
  return shades[times < 0.5 ? 1 : times < 1 ? 2 : times < 2 ? 3 : 4];
}

/// Returns a row for each peer with a column for each class.
std::string class_map(const Assembly& fleet) {
  const Dataset& data = *fleet.data.train;
  constexpr std::size_t room = width - 22;
  const std::size_t shown = std::min<std::size_t>(data.classes, room);
  const std::size_t wide = std::clamp<std::size_t>(room / shown, 1, 12);
  const std::vector<std::string> names = class_names(data);
  const Counts all = class_counts(data);
  std::string text = fmt::format("  {:>6} {:>11}  ", "peer", "samples");
  if (wide >= 4)
    for (std::size_t k = 0; k < shown; ++k) text += fitted(names[k], wide - 1) + " ";
  else
    text += fmt::format("the first {} classes in order", shown);
  while (text.ends_with(' ')) text.pop_back();
  text += "\n";
  for (std::size_t i = 0; i < std::min(fleet.partition.size(), most_peers_shown); ++i) {
    const Counts counts = count_classes(data, fleet.partition[i]);
    text += fmt::format("  {:>6} {:>11}  ", i, fleet.partition[i].size());
    for (std::size_t k = 0; k < shown; ++k) {
      const char* const shade = shade_of(counts[k], all[k], fleet.partition.size());
      for (std::size_t c = 0; c < std::max<std::size_t>(wide - 1, 1); ++c) text += shade;
      if (wide > 1) text += k + 1 < shown ? " " : "";
    }
    text += "\n";
  }
  return text;
}

/// Returns a bar for each peer.
std::string size_map(const Assembly& fleet) {
  std::size_t most = 1;
  for (const auto& rows : fleet.partition) most = std::max(most, rows.size());
  std::string text = fmt::format("  {:>6} {:>11}\n", "peer", "samples");
  for (std::size_t i = 0; i < std::min(fleet.partition.size(), most_peers_shown); ++i)
    text +=
        fmt::format("  {:>6} {:>11}  {}\n", i, fleet.partition[i].size(),
                    bar(static_cast<double>(fleet.partition[i].size()) / static_cast<double>(most),
                        bar_columns));
  return text;
}

std::string split_text(const Assembly& fleet) {
  const bool classes = has_classes(*fleet.data.train);
  std::string text = fmt::format(
      "\nsplit  {}: {} peers{}\n",
      fleet.fleet.data.per_peer() ? "a file for each peer" : fleet.fleet.data.partition.kind,
      fleet.partition.size(),
      classes ? "; of each class, beside an equal share of it:\n"
                "       · none, ░ under half, ▒ less than it, ▓ up to twice, █ more"
              : "");
  text += classes ? class_map(fleet) : size_map(fleet);
  if (fleet.partition.size() > most_peers_shown)
    text +=
        fmt::format("  and {} more: --json lists all\n", fleet.partition.size() - most_peers_shown);
  return text;
}

Json column_json(const ColumnFacts& column) {
  if (column.is_category())
    return {{"name", column.name},
            {"type", "category"},
            {"values", column.levels},
            {"missing", column.missing}};
  return {{"name", column.name},
          {"type", column.date ? "date" : "number"},
          {"mean", column.mean},
          {"deviation", column.deviation},
          {"missing", column.missing}};
}

std::string environment_text(const std::string& name) {
  const EnvironmentRow& row = *find_environment(name);
  return fmt::format(
      "data   {}: {}\n       {} numbers are seen, {} actions, {} steps at the most, solved at {}\n",
      row.name, row.summary, row.seen.elements(), row.actions, row.limit, row.solved);
}

/// Returns a text about the data: columns, classes, and the classes of each peer. 80 columns wide.
std::string data_text(const Assembly& fleet) {
  if (fleet.fleet.agent) return environment_text(fleet.fleet.data.environment);
  if (!fleet.data.train) return "data   drawn by the oracle: there are no samples\n";
  std::string text = head(fleet);
  if (fleet.data.train->facts) text += column_table(*fleet.data.train->facts);
  if (has_classes(*fleet.data.train)) text += class_table(fleet);
  return text + split_text(fleet);
}

/// Returns the same facts for programs, as `grapevine.data/1`.
std::string data_json(const Assembly& fleet) {
  Json json{{"schema", "grapevine.data/1"},
            {"name", fleet.fleet.name},
            {"kind", fleet.fleet.data.kind},
            {"content", fleet.fleet.data.content}};
  if (fleet.fleet.agent) json["environment"] = fleet.fleet.data.environment;
  if (!fleet.data.train) return json.dump() + "\n";
  const Dataset& train = *fleet.data.train;
  json["train"] = train.rows;
  if (fleet.validation) json["validation"] = fleet.validation->rows;
  json["test"] = fleet.data.test->rows;
  json["features"] = train.features;
  json["task"] = train.classes > 0 ? "classification" : "regression";
  if (train.classes == 0) json["loss_of_mean"] = loss_of_mean(*fleet.data.test);
  if (train.facts) {
    json["format"] = train.facts->format;
    json["target"] = train.facts->target;
    json["dropped"] = train.facts->dropped;
    json["standardized"] = train.facts->standardized;
    json["columns"] = mapped(train.facts->columns, column_json);
  }
  const bool classes = has_classes(train);
  if (classes) {
    const Counts trained = class_counts(train), tested = class_counts(*fleet.data.test);
    const std::vector<std::string> names = class_names(train);
    for (std::size_t k = 0; k < names.size(); ++k)
      json["classes"].push_back({{"name", names[k]}, {"train", trained[k]}, {"test", tested[k]}});
  }
  json["parts"] = Json::array();
  for (std::size_t i = 0; i < fleet.partition.size(); ++i) {
    Json part{{"peer", i}, {"samples", fleet.partition[i].size()}};
    if (classes) part["classes"] = count_classes(train, fleet.partition[i]);
    json["parts"].push_back(std::move(part));
  }
  return json.dump() + "\n";
}

struct DataOptions {
  FleetOptions file;
  std::string write;
  std::string held_out;
};

/// Returns ", of 1 of 3 parts" if some peers' own tables are not on this machine.
std::string parts_text(const Fleet& fleet) {
  if (!lacks_parts(fleet.data, fleet.trainers())) return "";
  return fmt::format(", of {} of {} parts", parts_here(fleet.data, fleet.trainers()).size(),
                     fleet.trainers());
}

int write_statistics(const DataOptions& options) {
  const Fleet fleet = read_fleet(options.file.file, options.file.sets, nullptr);
  if (!fleet.data.is_table())
    throw std::invalid_argument("--write: data of kind `" + fleet.data.kind +
                                "` have no columns; a `table` has");
  require_new(options.write, "--write: ");
  const DataFacts facts = pooled_facts(fleet);
  write_file(options.write, statistics_text(facts));
  if (options.file.json)
    console::print({{"schema", "grapevine.data-statistics/1"},
                    {"file", options.write},
                    {"columns", facts.columns.size()},
                    {"classes", facts.classes}});
  else
    fmt::print(
        "wrote {0}: {1} columns, {2} classes{3}; `data: {{ standardize: {{ file: {0} }} }}`\n",
        options.write, facts.columns.size(), facts.classes.size(), parts_text(fleet));
  return exit_code::done;
}

/// Lists the files of the data's folder that no peer trains on; may be empty.
std::vector<std::string> held_out_files(const Fleet& fleet) {
  const DataKind& kind = find_data_kind(fleet.data.kind);
  if (kind.held_out == nullptr) return {};
  return kind.held_out(fleet.data, data_rng(fleet));
}

/// Lists the rows of the user's own file, or the pictures, that no peer trains on, in their order.
std::string held_out_text(const Fleet& fleet) {
  const std::vector<std::string> files = held_out_files(fleet);
  std::string text = "file\n";
  for (const std::string& file : files)
    text +=
        csv_word(std::filesystem::path(file).lexically_relative(fleet.data.dir).string()) + "\n";
  if (!files.empty()) return text;
  const std::shared_ptr<const Dataset> train = load_data(fleet, std::nullopt).sets.train;
  if (!train || !train->facts || train->facts->held_out.empty())
    throw std::invalid_argument(
        "--held-out: the test set of these data is no part of a table or a folder that `held_out` "
        "draws");
  text = "row\n";
  for (const std::uint32_t row : train->facts->held_out)
    text += std::to_string(std::uint64_t{row} + 1) + "\n";
  return text;
}

int write_held_out(const DataOptions& options) {
  const Fleet fleet = read_fleet(options.file.file, options.file.sets, nullptr);
  require_new(options.held_out, "--held-out: ");
  const std::string text = held_out_text(fleet);
  write_file(options.held_out, text);
  const auto count = std::ranges::count(text, '\n') - 1;
  if (options.file.json)
    console::print(
        {{"schema", "grapevine.held-out/1"}, {"file", options.held_out}, {"samples", count}});
  else
    fmt::print("wrote {}: {} held-out samples\n", printable(options.held_out, 200), count);
  return exit_code::done;
}

int show_data(const DataOptions& options) {
  if (!options.write.empty()) return write_statistics(options);
  if (!options.held_out.empty()) return write_held_out(options);
  const Assembly fleet = assemble(options.file);
  fmt::print("{}", options.file.json ? data_json(fleet) : data_text(fleet));
  return exit_code::done;
}

void data_options(Options& options, DataOptions& arguments) {
  add_fleet_options(options, arguments.file).required();
  options.value("--write", arguments.write,
                "New file for the statistics of a table's columns (means, deviations, values, "
                "classes), for `standardize: { file: ... }`");
  options.value("--held-out", arguments.held_out,
                "New CSV file for the list of rows, counted from 1, or pictures that are held out "
                "for testing");
}

}  // namespace

Command data_command() {
  return command("data",
                 "Show the training data of a fleet: columns, classes, and the share of each peer",
                 "  grapevine data configs/iris-ring4.yaml\n"
                 "  grapevine data configs/digits-torus16.yaml --set data.partition.alpha=0.1\n"
                 "  statistics over all files, if each peer has its own file:\n"
                 "  grapevine data fleet.yaml --set data.standardize=false --write stats.yaml\n"
                 "  the rows of the test set, for other programs:\n"
                 "  grapevine data configs/iris-ring4.yaml --held-out held-out.csv",
                 data_options, show_data);
}

}  // namespace gv::cli
