#include "optim/data/table/table_plan.h"

#include <algorithm>
#include <stdexcept>

#include "optim/data/field.h"
#include "optim/data/reading/words.h"
#include "optim/data/table/column_look.h"

namespace gv {
namespace {

using Use = PlannedColumn::Use;

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
                           ": no column to predict; write `target: NAME`; its columns "
                           "are " +
                           list_of(rows.names()));
}

/// Plans the columns of a file by its first rows and the spec.
class Planner {
 public:
  Planner(const TableSpec& spec, const std::vector<ColumnLook>& looks, TablePlan& plan)
      : spec_(spec), looks_(looks), plan_(plan) {}

  PlannedColumn target(const std::string& name, std::size_t k) {
    const ColumnLook& look = looks_[k];
    if (look.values() == 0)
      throw std::runtime_error(spec_.file + ": the target " + shown(name) +
                               " has no value in the first rows; name another column");
    const char decimal = mark_of(name, look);
    const bool text = look.text > 0 && decimal == spec_.decimal;
    if (spec_.regression && text && look.numbers == 0)
      plan_.problems.push_back(look.text_place + ": the target " + shown(name) +
                               " has text, but a regression predicts numbers; write `task: "
                               "classification`, or mend " +
                               look.first_text);
    if (spec_.regression)
      return {.name = name,
              .levels = {},
              .told = "it is the target of a regression",
              .decimal = decimal};
    return {.name = name,
            .use = Use::category,
            .numeric = !text,
            .levels = {},
            .told = "the first classes are numbers",
            .decimal = decimal};
  }

  PlannedColumn feature(const std::string& name, std::size_t k) {
    const ColumnLook& look = looks_[k];
    if (is_listed(spec_.ignore, name))
      return {.name = name, .use = Use::ignored, .levels = {}, .told = ""};
    if (is_listed(spec_.dates, name))
      return {.name = name, .use = Use::date, .levels = {}, .told = "`dates` names it"};
    if (spec_.one_hot && is_listed(*spec_.one_hot, name))
      return {.name = name, .use = Use::category, .levels = {}, .told = ""};
    const char decimal = mark_of(name, look);
    if (!spec_.one_hot && look.text > 0 && look.numbers == 0 && decimal == spec_.decimal)
      return {.name = name, .use = Use::category, .levels = {}, .told = ""};
    const bool mixed = look.text > 0 && look.numbers > 0;
    return {.name = name,
            .levels = {},
            .told = mixed           ? "others are"
                    : look.text > 0 ? "`one_hot` does not name it"
                                    : "its first values are numbers",
            .decimal = decimal};
  }

 private:
  /// Returns the decimal mark of a column; adds a problem if it needs one that the spec does not
  /// give.
  char mark_of(const std::string& name, const ColumnLook& look) {
    if (spec_.decimal == ',' || !look.has_commas()) return spec_.decimal;
    plan_.problems.push_back(
        look.text_place + ": " + look.first_comma + " in column " + shown(name) +
        " looks like a number with a decimal comma; write `decimal: \",\"`, or "
        "name the column under `one_hot` or `ignore`");
    return ',';
  }

  const TableSpec& spec_;
  const std::vector<ColumnLook>& looks_;
  TablePlan& plan_;
};

/// Reports columns that are only in the file, or only among the given ones.
void name_differences(const TableSpec& spec,
                      const std::vector<std::string>& unknown,
                      const std::vector<std::string>& lacking,
                      TablePlan& plan) {
  if (!lacking.empty())
    plan.problems.push_back(spec.file + ": no column " + list_of(lacking) + ", needed by " +
                            spec.given_by);
  if (!unknown.empty())
    plan.problems.push_back(spec.file + ": column " + list_of(unknown) + ", unknown to " +
                            spec.given_by + "; leave it out: `ignore: [NAME]`");
}

/// Given columns must be those of the file, in any order.
void take_given(const TableSpec& spec, TablePlan& plan) {
  const DataFacts& given = *spec.given;
  std::vector<std::string> unknown, lacking;
  for (std::size_t k = 0; k < plan.columns.size(); ++k) {
    PlannedColumn& ours = plan.columns[k];
    if (k == plan.target || ours.use == Use::ignored) continue;
    const auto said = std::ranges::find(given.columns, ours.name, &ColumnFacts::name);
    if (said == given.columns.end()) {
      unknown.push_back(ours.name);
      continue;
    }
    if (said->is_category())
      ours.use = Use::category;
    else if (said->date || ours.use == Use::category)
      ours.use = said->date ? Use::date : Use::number;
    ours.levels = said->levels;
    ours.closed = said->is_category();
    ours.told = ours.closed ? spec.given_by : "it has numbers in " + spec.given_by;
  }
  for (const ColumnFacts& said : given.columns) {
    const auto ours = std::ranges::find(plan.columns, said.name, &PlannedColumn::name);
    if (ours == plan.columns.end() || ours->use == Use::ignored ||
        ours == plan.columns.begin() + static_cast<std::ptrdiff_t>(plan.target))
      lacking.push_back(said.name);
  }
  name_differences(spec, unknown, lacking, plan);
  PlannedColumn& target = plan.columns[plan.target];
  if (given.classes.empty() != (target.use == Use::number)) {
    plan.problems.push_back(
        spec.file + ": there are " +
        (given.classes.empty() ? "no classes in " + spec.given_by + "; write `task: regression`"
                               : "classes in " + spec.given_by + "; write `task: classification`"));
    return;
  }
  target.levels = given.classes;
  target.closed = target.use == Use::category;
  if (target.closed) target.told = spec.given_by;
  target.numeric = std::ranges::all_of(
      given.classes, [](const std::string& level) { return number_of<double>(level).has_value(); });
}

}  // namespace

RowForm form_of(bool header, const std::vector<ColumnFacts>& columns) {
  const bool zero = std::ranges::find(columns, "0", &ColumnFacts::name) != columns.end();
  return {.header = header, .least_columns = columns.size(), .first_column = zero ? 0 : 1};
}

std::unique_ptr<RowSource> open_table(const TableSpec& spec) {
  if (spec.given) return open_rows(spec.file, form_of(spec.has_header(), spec.given->columns));
  return open_rows(spec.file, {.header = spec.has_header()});
}

TablePlan make_plan(const TableSpec& spec) {
  const std::unique_ptr<RowSource> rows = open_table(spec);
  const std::vector<ColumnLook> looks = look_at(*rows, table_bounds::looked_at, spec.decimal);
  const std::vector<std::string>& names = rows->names();
  TablePlan plan;
  plan.target = find_target(spec.file, *rows, spec.target);
  for (const std::string& name : spec.one_hot.value_or(std::vector<std::string>{}))
    find_column(spec.file, names, name, "one_hot");
  for (const std::string& name : spec.ignore) find_column(spec.file, names, name, "ignore");
  for (const std::string& name : spec.dates)
    if (find_column(spec.file, names, name, "dates") == plan.target)
      throw std::runtime_error(spec.file + ": the target " + shown(name) +
                               " is listed under `dates`; a date is no class and no number");
  Planner planner(spec, looks, plan);
  for (std::size_t k = 0; k < names.size(); ++k)
    plan.columns.push_back(k == plan.target ? planner.target(names[k], k)
                                            : planner.feature(names[k], k));
  if (spec.given) take_given(spec, plan);
  return plan;
}

TaskGuess guess_task(const TableSpec& spec) {
  const std::unique_ptr<RowSource> rows = open_table(spec);
  const std::size_t at = find_target(spec.file, *rows, spec.target);
  const ColumnLook seen = look_at(*rows, table_bounds::looked_at, spec.decimal)[at];
  const std::string name = shown(rows->names()[at]);
  if (seen.text > 0) return {false, name + " is text"};
  if (seen.fractions) return {true, name + " has fractions"};
  const std::size_t count = seen.different.size();
  if (seen.has_classes())
    return {false, name + " has " + std::to_string(count) + " different whole number" +
                       (count == 1 ? "" : "s")};
  return {true,
          name + " has more than " + std::to_string(table_bounds::few) + " different numbers"};
}

}  // namespace gv
