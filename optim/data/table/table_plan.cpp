#include "optim/data/table/table_plan.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <set>
#include <stdexcept>

#include "optim/data/field.h"
#include "optim/data/table/bounds.h"

namespace gv {
namespace {

using Use = PlannedColumn::Use;

/// What the first rows show of a column.
struct Look {
  std::uint64_t values = 0;
  bool text = false;
  bool numbers = false;
  std::string first_text, text_place;
  bool fractions = false;
  std::set<double> different;  ///< as many as matter

  void at(std::string_view word, const RowSource& rows) {
    if (is_missing(word)) return;
    const std::optional<double> value = number_of<double>(word);
    if (value && std::isfinite(*value)) return at(*value);
    ++values;
    if (!text) {
      first_text = shown(word);
      text_place = rows.place();
    }
    text = true;
  }
  void at(double value) {
    if (std::isnan(value)) return;
    ++values;
    numbers = true;
    if (value != std::floor(value)) fractions = true;
    if (different.size() <= table_bounds::few) different.insert(value);
  }
  bool classes() const { return text || (!fractions && different.size() <= table_bounds::few); }
};

std::vector<Look> look(RowSource& rows) {
  std::vector<Look> looks(rows.names().size());
  for (std::size_t r = 0; r < table_bounds::looked_at && rows.next(); ++r) {
    const std::size_t numbers = rows.numbers().size();
    for (std::size_t k = 0; k < numbers; ++k) looks[k].at(rows.numbers()[k]);
    for (std::size_t k = 0; k < rows.words().size(); ++k)
      looks[numbers + k].at(rows.words()[k], rows);
  }
  return looks;
}

/// "`a`, `b` and 12 more".
std::string list_of(const std::vector<std::string>& names) {
  constexpr std::size_t most = 12;
  std::string text;
  for (std::size_t k = 0; k < std::min(names.size(), most); ++k)
    text.append(k == 0 ? "" : ", ").append(shown(names[k]));
  if (names.size() > most) text += " and " + std::to_string(names.size() - most) + " more";
  return text;
}

std::size_t find_column(const std::string& path,
                        const std::vector<std::string>& names,
                        const std::string& name,
                        const std::string& key) {
  const auto it = std::ranges::find(names, name);
  if (it != names.end()) return static_cast<std::size_t>(it - names.begin());
  throw std::runtime_error(path + ": there is no column " + shown(name) + " for `" + key +
                           "`; its columns are " + list_of(names));
}

std::size_t find_target(const std::string& path, const RowSource& rows, const std::string& target) {
  if (!target.empty()) return find_column(path, rows.names(), target, "target");
  if (rows.usual_target()) return *rows.usual_target();
  throw std::runtime_error(path +
                           ": which column is to be told? say `target: NAME`; its columns "
                           "are " +
                           list_of(rows.names()));
}

PlannedColumn plan_target(const std::string& name, const Look& look, const TableSpec& spec) {
  if (spec.regression && look.text)
    throw std::runtime_error(look.text_place + ": the target " + shown(name) +
                             " has text, and a regression tells numbers; say `task: "
                             "classification`, or mend " +
                             look.first_text);
  if (spec.regression)
    return {.name = name, .levels = {}, .told = "it is the target of a regression"};
  return {.name = name,
          .use = Use::category,
          .by_value = !look.text,
          .levels = {},
          .told = "the first classes are numbers"};
}

PlannedColumn plan_feature(const std::string& name, const Look& look, const TableSpec& spec) {
  if (std::ranges::find(spec.ignore, name) != spec.ignore.end())
    return {.name = name, .use = Use::ignored, .levels = {}, .told = ""};
  const bool listed = spec.one_hot && std::ranges::find(*spec.one_hot, name) != spec.one_hot->end();
  if (!listed && look.text && look.numbers)
    throw std::runtime_error(look.text_place + ": " + look.first_text + " in column " +
                             shown(name) +
                             " is no number, and others are; mend it, leave it empty where it is "
                             "missing, or name the column under `one_hot` or `ignore`");
  if (listed || (!spec.one_hot && look.text))
    return {.name = name, .use = Use::category, .levels = {}, .told = ""};
  return {.name = name,
          .levels = {},
          .told = look.text ? "`one_hot` does not name it" : "its first values are numbers"};
}

/// Columns that are said beforehand must be those of the file.
void take_given(const std::string& path, const DataFacts& given, TablePlan& plan) {
  std::vector<PlannedColumn*> ours;
  for (std::size_t k = 0; k < plan.columns.size(); ++k)
    if (k != plan.target && plan.columns[k].use != Use::ignored) ours.push_back(&plan.columns[k]);
  if (ours.size() != given.columns.size())
    throw std::runtime_error(path + ": " + std::to_string(ours.size()) +
                             " columns of features, and "
                             "the statistics are of " +
                             std::to_string(given.columns.size()) +
                             "; make them anew from files like these");
  for (std::size_t k = 0; k < ours.size(); ++k) {
    const ColumnFacts& said = given.columns[k];
    if (ours[k]->name != said.name)
      throw std::runtime_error(path + ": feature " + std::to_string(k + 1) + " is " +
                               shown(ours[k]->name) + ", and in the statistics " +
                               shown(said.name) + "; make them anew from files like these");
    ours[k]->use = said.is_category() ? Use::category : Use::number;
    ours[k]->levels = said.levels;
    ours[k]->closed = said.is_category();
    ours[k]->told = "the statistics say so";
  }
  PlannedColumn& target = plan.columns[plan.target];
  if (given.classes.empty() != (target.use == Use::number))
    throw std::runtime_error(path + ": the statistics have " +
                             (given.classes.empty() ? "no classes, and the task is a classification"
                                                    : "classes, and the task is a regression") +
                             "; make them anew");
  target.levels = given.classes;
  target.closed = target.use == Use::category;
  target.by_value = std::ranges::all_of(
      given.classes, [](const std::string& level) { return number_of<double>(level).has_value(); });
}

}  // namespace

bool is_missing(std::string_view word) {
  static constexpr std::string_view words[] = {"", "?", "NA", "N/A", "NaN", "nan", "null", "NULL"};
  return std::ranges::find(words, word) != std::end(words);
}

std::string name_of(double value) {
  std::array<char, 32> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value).ptr;
  return {text.data(), end};
}

std::vector<std::string> sorted_levels(std::vector<std::string> levels) {
  const bool numbers = std::ranges::all_of(levels, [](const std::string& level) {
    const auto value = number_of<double>(level);
    return value && std::isfinite(*value);
  });
  std::ranges::sort(levels);
  if (numbers)
    std::ranges::stable_sort(
        levels, {}, [](const std::string& l) { return *number_of<double>(l); });
  return levels;
}

std::unique_ptr<RowSource> open_table(const TableSpec& spec) {
  return open_rows(spec.file, spec.given ? spec.given->columns.size() : 0);
}

TablePlan make_plan(const TableSpec& spec) {
  const std::unique_ptr<RowSource> rows = open_table(spec);
  const std::vector<Look> looks = look(*rows);
  const std::vector<std::string>& names = rows->names();
  TablePlan plan;
  plan.target = find_target(spec.file, *rows, spec.target);
  for (const std::string& name : spec.one_hot.value_or(std::vector<std::string>{}))
    find_column(spec.file, names, name, "one_hot");
  for (const std::string& name : spec.ignore) find_column(spec.file, names, name, "ignore");
  for (std::size_t k = 0; k < names.size(); ++k) {
    const bool target = k == plan.target;
    if (target && looks[k].values == 0)
      throw std::runtime_error(spec.file + ": the target " + shown(names[k]) +
                               " has no value in the first rows; name another column");
    plan.columns.push_back(target ? plan_target(names[k], looks[k], spec)
                                  : plan_feature(names[k], looks[k], spec));
  }
  if (spec.given) take_given(spec.file, *spec.given, plan);
  return plan;
}

TaskGuess guess_task(const std::string& file, const std::string& target) {
  const std::unique_ptr<RowSource> rows = open_rows(file);
  const std::size_t at = find_target(file, *rows, target);
  const Look seen = look(*rows)[at];
  const std::string name = shown(rows->names()[at]);
  if (seen.text) return {false, name + " is text"};
  if (seen.fractions) return {true, name + " has fractions"};
  const std::size_t count = seen.different.size();
  if (seen.classes())
    return {false,
            name + " has " + std::to_string(count) + " different whole number" +
                (count == 1 ? "" : "s")};
  return {true,
          name + " has more than " + std::to_string(table_bounds::few) + " different numbers"};
}

}  // namespace gv
