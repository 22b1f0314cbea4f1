#include <fmt/format.h>

#include "graph/spec/nearest.h"
#include "optim/data/field.h"
#include "optim/data/reading/words.h"
#include "peer/fleet/data/data_reader.h"
#include "peer/fleet/data/table_statistics.h"
#include "peer/fleet/file/source.h"
#include "peer/fleet/file/value.h"

namespace gv {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_listed = 10'000;
constexpr const char* file_help =
    "a table: CSV with a line of names, NPY, NPZ with `x` and `y`, or LIBSVM; `part-{id}.csv` is "
    "a file of its own for each peer";

class TableReader : Readers {
 public:
  TableReader(Source& source, const Value& at, const fs::path& folder, DataSpec& data)
      : Readers(source), at_(at), folder_(folder), data_(data), table_(data.table) {}

  void read(MapReader& map, PeerId peers, std::vector<std::string>* notices) {
    const Value* file = map.take("file");
    const Value* test = map.take("test");
    const Value* held_out = map.take("held_out");
    const Value* task = map.take("task");
    bool header = true;
    const Value* names = map.take("header");
    set(names, header, flag());
    if (names != nullptr) table_.header = header;
    if (file == nullptr) source_.error(at_, "data of kind `table` needs `file`", file_help);
    table_.file = read_path(file);
    table_.test = read_path(test);
    columns_.push_back(map.take("target"));
    set(columns_[0], table_.target, word());
    read_held_out(source_, test, held_out, table_.held_out);
    read_test(test, held_out, file);
    const Value* standardize = map.take("standardize");
    read_standardize(standardize);
    if (data_.per_peer() && table_.standardize && !table_.given)
      source_.error(standardize != nullptr ? *standardize : at_,
                    "means and deviations are taken over all peers' samples, but with `{id}` no "
                    "peer has all samples",
                    "write `standardize: false`, or `standardize: { file: stats.yaml }`, which "
                    "`grapevine data FILE --write stats.yaml` makes on a machine with all files");
    read_names(map.take("one_hot"), "one_hot", true);
    read_names(map.take("ignore", "none"), "ignore", false);
    read_names(map.take("dates", "none"), "dates", false);
    std::string decimal = ".";
    set(map.take("decimal"), decimal, choice({".", ","}));
    table_.decimal = decimal[0];
    std::string missing = "refuse";
    set(map.take("missing"), missing, choice({"refuse", "mean", "drop"}));
    table_.missing = missing == "mean"   ? MissingValue::mean
                     : missing == "drop" ? MissingValue::drop
                                         : MissingValue::refuse;
    std::string word = "";
    set(task, word, choice({"classification", "regression"}));
    table_.regression = word == "regression";
    if (file == nullptr || !source_.diagnostics().empty()) return;
    look_at_files(*file, task == nullptr, peers, notices);
  }

 private:
  std::string read_path(const Value* value) {
    return value == nullptr ? "" : gv::read_path(source_, *value, folder_);
  }

  void read_test(const Value* test, const Value* held_out, const Value* file) {
    if (test == nullptr && held_out == nullptr) table_.held_out = 0.2;
    if (file != nullptr && data_.per_peer() && test == nullptr)
      source_.error(*file, "per-peer files need a `test` file that all peers have",
                    "write `test: test.csv`");
    if (test != nullptr && table_.test.find("{id}") != std::string::npos)
      source_.error(*test, "all peers share the test set", "leave `{id}` out of `test`");
  }

  void read_standardize(const Value* value) {
    if (value == nullptr) return;
    if (value->kind == Value::Kind::scalar) return set(value, table_.standardize, flag());
    MapReader map(source_, value, "data.standardize");
    const Value* file = map.take("file");
    map.finish();
    if (file == nullptr)
      return source_.error(*value, "`standardize` needs `file`", "or write `true` or `false`");
    statistics_ = read_path(file);
    if (statistics_.empty()) return;
    table_.given_by += " in " + shown(fs::path(statistics_).filename().string());
    try {
      table_.given = std::make_shared<const DataFacts>(read_statistics(statistics_));
    } catch (const FleetError& e) {
      const Diagnostic& first = e.diagnostics().at(0);
      source_.error(*file, fmt::format("{}: {}", first.where, first.message), first.help);
    }
  }

  /// Reads [a, b], or `auto` if `automatic` allows it.
  void read_names(const Value* value, const char* key, bool automatic) {
    if (value == nullptr) return;
    if (automatic && value->kind == Value::Kind::scalar && value->text == "auto") return;
    if (value->kind != Value::Kind::sequence || value->items.size() > most_listed)
      return source_.error(*value, fmt::format("expected a list of columns for `{}`", key),
                           fmt::format("write `{}: [city, colour]`{}", key,
                                       automatic ? ", or `auto`: every column of text" : ""));
    std::vector<std::string> names;
    for (const Value& item : value->items)
      if (auto name = gv::read_word(source_, item))
        names.push_back(*name), columns_.push_back(&item);
    if (automatic)
      table_.one_hot = names;
    else
      (key == std::string_view("dates") ? table_.dates : table_.ignore) = names;
  }

  void look_at_files(const Value& file,
                     bool guess,
                     PeerId peers,
                     std::vector<std::string>* notices) {
    std::vector<std::string> shared;
    if (!data_.per_peer()) shared.push_back(table_.file);
    if (!table_.test.empty()) shared.push_back(table_.test);
    for (const std::string& path : shared)
      if (const std::string absent = no_file(path); !absent.empty())
        return source_.error(file, fmt::format("no such file: {}", absent), file_help);
    if (!statistics_.empty()) shared.push_back(statistics_);
    try {
      data_.content = content_of(shared);
      const std::vector<std::string> parts = parts_here(data_, peers);
      if (data_.per_peer()) data_.parts_content = content_of(parts);
      TableSpec seen = table_;
      seen.part = data_.per_peer();
      seen.file = seen.part && !parts.empty() ? parts[0] : shared[0];
      find_columns(seen);
      if (!source_.diagnostics().empty()) return;
      if (guess) guess_the_task(shared[0], notices);
      if (notices == nullptr) return;
      for (std::string& warning : table_warnings(seen)) notices->push_back(std::move(warning));
    } catch (const std::exception& e) {
      source_.error(file, e.what());
    }
  }

  /// Finds a misspelled column before any peer reads the rows.
  void find_columns(const TableSpec& seen) {
    const std::vector<std::string> names = open_table(seen)->names();
    const std::string help = "its columns are " + list_of(names);
    for (const Value* column : columns_)
      if (column != nullptr && !is_listed(names, column->text))
        source_.error(*column, fmt::format("{} has no column {}", seen.file, shown(column->text)),
                      did_you_mean(nearest(column->text, names), help));
  }

  void guess_the_task(const std::string& path, std::vector<std::string>* notices) {
    TableSpec spec = table_;
    spec.file = path;
    const TaskGuess guess = guess_task(spec);
    table_.regression = guess.regression;
    if (table_.given) table_.regression = table_.given->classes.empty();
    if (notices != nullptr)
      notices->push_back(fmt::format("task: {}, since {}; write `task: {}` if it is not",
                                     table_.regression ? "regression" : "classification",
                                     table_.given ? "the statistics say so" : guess.why,
                                     table_.regression ? "classification" : "regression"));
  }

  const Value& at_;
  const fs::path& folder_;
  DataSpec& data_;
  TableSpec& table_;
  std::string statistics_;
  std::vector<const Value*> columns_;  ///< values that name columns of the file
};

void read_table_keys(DataReading& from) {
  TableReader(from.source, from.at, from.folder, from.data)
      .read(from.map, from.peers, from.notices);
}

/// Describes the content and how it is read; paths do not matter.
std::string digest(const DataSpec& data) {
  const TableSpec& t = data.table;
  std::string words =
      fmt::format("table {} {} {} {} {} {} {} {}one-hot {}{};", data.content, data.per_peer(),
                  t.held_out, t.regression, t.standardize, static_cast<int>(t.missing),
                  counted_words({t.target}), counted_words(t.ignore), t.one_hot.has_value(),
                  counted_words(t.one_hot.value_or(std::vector<std::string>{})));
  if (!t.has_header()) words += "no header;";
  if (t.decimal != '.') words += fmt::format("decimal {};", t.decimal);
  if (!t.dates.empty()) words += fmt::format("dates {};", counted_words(t.dates));
  return words;
}

std::shared_ptr<const Dataset> read_validation(const DataSpec& data, const Dataset& train) {
  TableSpec spec = data.table;
  spec.test = data.validation_file;
  spec.held_out = 0;
  spec.given = train.facts;
  spec.given_by = "the training set";
  return read_table(spec, Rng(0)).test;
}

/// Returns a key whose example needs only `file` and `target` besides it.
DataKey key(const char* name,
            const char* takes,
            const char* usual,
            const char* help,
            const std::string& value) {
  return {.name = name,
          .takes = takes,
          .usual = usual,
          .help = help,
          .example = fmt::format("data: {{ kind: table, file: a.csv, target: y{} }}", value)};
}

std::vector<DataKey> keys() {
  return {
      key("file", "a file, from the fleet file's folder", "",
          "file with the samples; a name such as `part-{id}.csv` gives each peer its own file", ""),
      key("test", "a file", "(by `held_out`)", "file with the test set", ", test: a.csv"),
      held_out_key(),
      key("header", "true or false", "true",
          "the first line of each CSV file has the columns' names; false: the columns are called "
          "x0, x1, ...",
          ", header: true"),
      key("target", "a column", "(the last column, if columns have no names)",
          "the column to predict", ""),
      key("task", "classification or regression", "(guessed and reported)",
          "kind of target. The guess: text and at most 20 different whole numbers are classes",
          ", task: regression"),
      key("standardize", "true, false or { file: stats.yaml }", "true",
          "scale numbers to mean 0 and standard deviation 1 over the training samples",
          ", standardize: false"),
      key("standardize.file", "a file of `grapevine data FILE --write`", "",
          "file with the means, deviations, values and classes to use instead of measured ones",
          ", standardize: { file: stats.yaml }"),
      key("one_hot", "auto, or a list of columns", "auto",
          "columns to encode one-hot, each value as a feature of 0 or 1; auto: the columns of text",
          ", one_hot: [c]"),
      key("ignore", "a list of columns", "none", "columns to leave out", ", ignore: [c]"),
      key("dates", "a list of columns", "none",
          "columns of dates (2024-03-01, 1.3.2024, optionally with a time), which become days "
          "since 1970-01-01",
          ", dates: [c]"),
      key("decimal", "`.` or `,`", "\".\"",
          "decimal mark of numbers; with `,` thousands may be separated by points",
          ", decimal: \",\""),
      key("missing", "refuse, mean or drop", "refuse",
          "treatment of empty values. refuse: an error. mean: the column's mean, or no row if the "
          "target is empty. drop: the row is left out",
          ", missing: mean")};
}

}  // namespace

DataKind table_kind() {
  return {.kind = "table",
          .form = DataForm::rows,
          .summary = "a file of your own",
          .keys = keys(),
          .read = read_table_keys,
          .form_of =
              [](const DataSpec& data) {
                return data.table.regression ? DataForm::targets : DataForm::rows;
              },
          .digest = digest,
          .load = [](const DataSpec& data,
                     const Rng& rng) { return read_table(data.table, rng.derive("held out")); },
          .validation = OwnValidation{.folder = false, .read = read_validation}};
}

std::string DataSpec::table_file(PeerId i) const {
  std::string path = table.file;
  const std::size_t at = path.find("{id}");
  return at == std::string::npos ? path : path.replace(at, 4, std::to_string(i));
}

}  // namespace gv
