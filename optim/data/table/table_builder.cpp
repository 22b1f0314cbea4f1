#include "optim/data/table/table_builder.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <stdexcept>
#include <utility>

#include "optim/data/field.h"
#include "optim/data/reading/words.h"
#include "optim/data/set_apart.h"
#include "optim/data/table/prepared_rows.h"
#include "optim/data/table/table_problems.h"
#include "optim/printable.h"

namespace gv {
namespace {

using Use = PlannedColumn::Use;
using Fault = TableProblems::Fault;
constexpr const char* own_part = "this peer's own part";
constexpr double missing_cell = std::numeric_limits<double>::quiet_NaN();

class TableBuilder {
 public:
  TableBuilder(RowSource& rows, TablePlan plan, MissingValue missing, bool lenient)
      : rows_(rows), missing_(missing), lenient_(lenient), known_(plan.columns.size()) {
    table_.missing.resize(plan.columns.size());
    for (std::size_t k = 0; k < plan.columns.size(); ++k) {
      if (k != plan.target && plan.columns[k].use != Use::ignored) ++table_.width;
      for (const std::string& level : plan.columns[k].levels)
        known_[k].emplace(level, known_[k].size());
    }
    table_.plan = std::move(plan);
  }

  RawTable read() {
    for (std::string& problem : table_.plan.problems) problems_.add(std::move(problem));
    const std::uint64_t most = rows_.most_rows();
    table_.cells.reserve(most * table_.width);
    table_.targets.reserve(most);
    try {
      while (take_next()) {
      }
    } catch (const std::runtime_error& e) {  // reading cannot continue
      problems_.add(e.what());
    }
    problems_.refuse();
    return std::move(table_);
  }

 private:
  bool take_next() {
    try {
      if (!rows_.next()) return false;
      if (table_.rows == table_bounds::rows)
        throw std::runtime_error(rows_.place() + ": more than " +
                                 std::to_string(table_bounds::rows) + " samples; take fewer");
      take_row();
    } catch (const RowError& e) {
      if (lenient_)
        table_.left_out.push_back({seen_++, e.what()});
      else
        problems_.add(no_target, Fault::row, e.what());
    }
    return true;
  }
  /// Reports a problem; the cell counts as missing until all problems are reported or the row is
  /// left out.
  double complain(std::size_t k, Fault fault, std::string_view word, const std::string& what) {
    std::string text = rows_.place() + ": " + what;
    if (!lenient_)
      problems_.add(k, fault, word, std::move(text));
    else if (wrong_.empty())
      wrong_ = std::move(text);
    return missing_cell;
  }
  const PlannedColumn& column(std::size_t k) const { return table_.plan.columns[k]; }

  void take_row() {
    const std::uint64_t number = seen_++;
    if ((missing_ == MissingValue::drop && has_gap()) ||
        (missing_ == MissingValue::mean && lacks_target())) {
      ++table_.dropped;
      table_.left_out.push_back({number});
      return;
    }
    const std::size_t before = table_.cells.size();
    const std::size_t numbers = rows_.numbers().size();
    double target = 0;
    table_.cells.resize(before + table_.width);
    double* to = table_.cells.data() + before;
    for (std::size_t k = 0; k < table_.plan.columns.size(); ++k) {
      if (column(k).use == Use::ignored) continue;
      const double cell =
          k < numbers ? take(k, rows_.numbers()[k]) : take(k, rows_.words()[k - numbers]);
      (k == table_.plan.target ? target : *to++) = cell;
    }
    if (!wrong_.empty()) {
      table_.cells.resize(before);
      table_.left_out.push_back({number, std::exchange(wrong_, "")});
      return;
    }
    table_.targets.push_back(target);
    ++table_.rows;
  }

  /// Checks a row before any of its values is taken: values that occur only in dropped rows do not
  /// count.
  bool has_gap() {
    bool gap = false;
    for (std::size_t k = 0; k < table_.plan.columns.size(); ++k) {
      if (column(k).use == Use::ignored) continue;
      const bool missing = lacks(k);
      table_.missing[k] += missing ? 1 : 0;
      gap = gap || missing;
    }
    return gap;
  }
  bool lacks(std::size_t k) const {
    const std::size_t numbers = rows_.numbers().size();
    return k < numbers ? std::isnan(rows_.numbers()[k]) : is_gap(k, rows_.words()[k - numbers]);
  }
  /// Returns whether the word marks a missing value of column k.
  bool is_gap(std::size_t k, std::string_view word) const {
    const bool words = column(k).use == Use::category && !column(k).numeric;
    return words ? is_missing(word) : lacks_number(word);
  }
  /// A mean cannot replace a missing target.
  bool lacks_target() const { return table_.plan.target != no_target && lacks(table_.plan.target); }

  double take(std::size_t k, std::string_view word) {
    if (is_gap(k, word)) return gap(k);
    if (column(k).use == Use::category) return level(k, word);
    if (column(k).use == Use::date) return take_date(k, word);
    const std::optional<double> value = number_in(word, column(k).decimal);
    if (value && !std::isnan(*value)) return in_range(k, *value);
    return complain(k, Fault::number, word,
                    shown(word) + " in column " + shown(column(k).name) + " is no number, and " +
                        column(k).told +
                        "; correct it, leave it empty if it is missing, or name the column under "
                        "`one_hot` or `ignore`");
  }

  double take_date(std::size_t k, std::string_view word) {
    if (const std::optional<double> days = days_of(word)) return *days;
    return complain(k, Fault::number, word,
                    shown(word) + " in column " + shown(column(k).name) +
                        " is no date, and `dates` names the column; write 2024-03-01 or 1.3.2024, "
                        "leave it empty if it is missing, or name the column under `ignore`");
  }

  double take(std::size_t k, double value) {
    if (std::isnan(value)) return gap(k);
    if (column(k).use == Use::category) return level(k, rows_.number_text(k));
    return in_range(k, value);
  }

  double in_range(std::size_t k, double value) {
    if (std::abs(value) <= static_cast<double>(std::numeric_limits<float>::max())) return value;
    return complain(k, Fault::range, "",
                    "the number in column " + shown(column(k).name) +
                        " is beyond what a float holds, 3.4e38; mend it or scale the column");
  }

  double gap(std::size_t k) {
    ++table_.missing[k];
    if (missing_ == MissingValue::refuse)
      complain(k, Fault::missing, "",
               "no value in column " + shown(column(k).name) +
                   "; write `missing: mean` or `missing: drop`, or correct the file");
    return missing_cell;
  }

  /// Returns the index of a category's value in its column. Its name is the word in the file.
  double level(std::size_t k, std::string_view word) {
    if (const auto it = known_[k].find(word); it != known_[k].end())
      return static_cast<double>(it->second);
    const PlannedColumn& c = column(k);
    const std::optional<double> value = c.numeric ? number_in(word, c.decimal) : 0;
    if (!value || !std::isfinite(*value))
      return complain(k, Fault::number, word,
                      "the class " + shown(word) + " is no number, and " + c.told +
                          "; correct it, or write all values as text");
    if (c.numeric && c.closed)
      if (const auto same = same_number(k, word)) return static_cast<double>(*same);
    return level_called(k, visible_name(word));
  }

  /// Finds the only known class that is this number in another spelling: another program may save
  /// `1` as `1.0`.
  std::optional<std::size_t> same_number(std::size_t k, std::string_view word) {
    const std::vector<std::string>& levels = column(k).levels;
    const std::string plain = plain_number(word);
    std::optional<std::size_t> found;
    for (std::size_t at = 0; at < levels.size(); ++at) {
      if (plain_number(levels[at]) != plain) continue;
      if (found) return std::nullopt;
      found = at;
    }
    if (found && known_[k].size() < 2 * table_bounds::classes) known_[k].emplace(word, *found);
    return found;
  }

  double level_called(std::size_t k, std::string_view name) {
    auto& known = known_[k];
    if (const auto it = known.find(name); it != known.end()) return static_cast<double>(it->second);
    const std::string where = shown(name) + " in column " + shown(column(k).name);
    if (column(k).closed) return complain(k, Fault::level, name, where + unknown_text(k));
    const bool target = k == table_.plan.target;
    const std::size_t most = target ? table_bounds::classes : table_bounds::levels;
    if (known.size() == most)
      return complain(k, Fault::level, "",
                      where + " is one " + (target ? "class" : "value") + " more than the " +
                          std::to_string(most) + " that a column may have; " +
                          (target ? "write `task: regression`, or name another target"
                                  : "leave the column out: `ignore: [NAME]`"));
    if (name.size() > table_bounds::name_bytes)
      return complain(k, Fault::range, "",
                      where + " is longer than " + std::to_string(table_bounds::name_bytes) +
                          " bytes; leave the column out: `ignore: [NAME]`");
    if (!is_printable(name))
      return complain(k, Fault::text, "", where + " " + why_unprintable(name));
    const auto at = known.size();
    known.emplace(name, at);
    table_.plan.columns[k].levels.emplace_back(name);
    return static_cast<double>(at);
  }

  /// The part of a message about an unknown value of a category: the source of the known ones.
  std::string unknown_text(std::size_t k) const {
    const bool target = k == table_.plan.target;
    const std::string& source = column(k).told;
    if (source.empty())
      return std::string(" is in no training sample") +
             (target ? ", so no model can learn it" : "") +
             "; leave the line out, or join both files and write `held_out: 20 %`";
    const std::string text = " is unknown to " + source + "; leave the line out, or ";
    if (source == own_part)
      return text + "list the values of all peers: `standardize: { file: stats.yaml }`";
    if (!source.starts_with(TableSpec{}.given_by)) return text + "mend it";
    return text + (target ? "list it there under `classes`" : "list it there under `values`");
  }

  RowSource& rows_;
  MissingValue missing_;
  bool lenient_;
  std::vector<std::map<std::string, std::size_t, std::less<>>> known_;
  RawTable table_;
  TableProblems problems_;
  std::uint64_t seen_ = 0;
  std::string wrong_;  ///< error of the current row, if such rows are left out
};

/// Returns the facts of the training rows, still without means and deviations. Given statistics
/// keep their order.
DataFacts facts_of(const TableSpec& spec, const std::string& format, const RawTable& raw) {
  DataFacts facts{.format = format, .target = raw.plan.columns[raw.plan.target].name};
  for (std::size_t k = 0; k < raw.plan.columns.size(); ++k) {
    const PlannedColumn& column = raw.plan.columns[k];
    const bool closed = column.closed;
    if (k == raw.plan.target)
      facts.classes = closed ? column.levels : sorted_levels(column.levels);
    else if (column.use != Use::ignored)
      facts.columns.push_back({.name = column.name,
                               .levels = closed ? column.levels : sorted_levels(column.levels),
                               .date = column.use == Use::date});
  }
  facts.standardized = spec.standardize;
  facts.decimal = spec.decimal;
  facts.header = spec.has_header();
  return facts;
}

template <class Value>
std::vector<Value> take_rows(std::vector<Value>& from,
                             const std::vector<std::uint32_t>& rows,
                             std::size_t width) {
  std::vector<Value> taken;
  if (from.empty()) return taken;
  taken.reserve(rows.size() * width);
  std::size_t to = 0, next = 0;
  for (std::size_t r = 0; r * width < from.size(); ++r) {
    const auto row = from.begin() + static_cast<std::ptrdiff_t>(r * width);
    if (next < rows.size() && rows[next] == r) {
      taken.insert(taken.end(), row, row + static_cast<std::ptrdiff_t>(width));
      ++next;
      continue;
    }
    if (to != r) std::copy_n(row, width, from.begin() + static_cast<std::ptrdiff_t>(to * width));
    ++to;
  }
  from.resize(to * width);
  return taken;
}

/// Takes the held-out samples out of the training set.
RawTable hold_out(RawTable& train, const std::vector<std::uint32_t>& rows) {
  RawTable test;
  test.plan = train.plan;
  test.rows = rows.size();
  test.width = train.width;
  test.cells = take_rows(train.cells, rows, train.width);
  test.targets = take_rows(train.targets, rows, 1);
  train.rows -= test.rows;
  return test;
}

/// Draws the held-out samples at random.
std::vector<std::uint32_t> draw_held_out(const TableSpec& spec, std::uint64_t samples, Rng rng) {
  if (samples < 2)
    throw std::runtime_error(spec.file + ": one sample cannot be divided into training and test");
  return held_out_rows(static_cast<std::uint32_t>(samples), spec.held_out, rng);
}

/// The rows of the samples in the file. `left_out`, ascending, has rows that are not samples.
std::vector<std::uint32_t> file_rows(const std::vector<std::uint32_t>& samples,
                                     const std::vector<LeftOut>& left_out) {
  std::vector<std::uint32_t> rows;
  std::uint32_t gone = 0;
  for (const std::uint32_t sample : samples) {
    while (gone < left_out.size() && left_out[gone].row <= sample + gone) ++gone;
    rows.push_back(sample + gone);
  }
  return rows;
}

/// Reads the test file, whose columns and categories must be the training file's.
RawTable read_test(const TableSpec& spec, const RawTable& train) {
  TablePlan plan = train.plan;
  for (PlannedColumn& column : plan.columns) {
    if (column.use != Use::category || std::exchange(column.closed, true)) continue;
    column.told = spec.part ? own_part : "";
  }
  std::vector<ColumnFacts> columns;
  for (std::size_t k = 0; k < plan.columns.size(); ++k)
    if (k != plan.target) columns.push_back({.name = plan.columns[k].name});
  const std::unique_ptr<RowSource> rows = open_rows(spec.test, form_of(spec.has_header(), columns));
  const std::vector<std::string>& names = rows->names();
  const auto [ours, theirs] =
      std::ranges::mismatch(names, plan.columns, {}, {}, &PlannedColumn::name);
  if (ours == names.end() && theirs == plan.columns.end())
    return read_rows(*rows, std::move(plan), spec.missing);
  const std::string here = ours == names.end() ? "nothing" : shown(*ours);
  const std::string there = theirs == plan.columns.end() ? "nothing" : shown(theirs->name);
  throw std::runtime_error(spec.test + ": column " + std::to_string(ours - names.begin() + 1) +
                           " is " + here + ", and " + there + " in " + spec.file +
                           "; both files need the same columns in the same order");
}

void require_samples(const RawTable& raw, const std::string& path) {
  if (raw.rows > 0) return;
  throw std::runtime_error(
      path + ": no samples" +
      (raw.dropped > 0 ? ": `missing: drop` has left out all " + std::to_string(raw.dropped)
                       : std::string("; the file has names and no rows")));
}

void require_sense(const TableSpec& spec, const DataFacts& facts) {
  if (facts.columns.empty())
    throw std::runtime_error(spec.file + ": no columns but the target; a sample needs features");
  const bool more = spec.part && spec.test.empty();  // other parts may have other classes
  if (facts.classes.size() == 1 && !more)
    throw std::runtime_error(spec.file + ": all samples are of one class, " +
                             shown(facts.classes[0]) + "; is " + shown(facts.target) +
                             " the target?");
}

/// Adds the missing values of a file; called for both files.
void count_missing(const RawTable& raw, DataFacts& facts) {
  std::size_t at = 0;
  for (std::size_t k = 0; k < raw.plan.columns.size(); ++k)
    if (k != raw.plan.target && raw.plan.columns[k].use != Use::ignored)
      facts.columns[at++].missing += raw.missing[k];
  facts.dropped += raw.dropped;
}

}  // namespace

RawTable read_rows(RowSource& rows, TablePlan plan, MissingValue missing, bool lenient) {
  // The plan was made with an earlier open file, which may have been overwritten since.
  if (!std::ranges::equal(rows.names(), plan.columns, {}, {}, &PlannedColumn::name))
    throw std::runtime_error(rows.place() + ": the file has changed while it was read; try again");
  return TableBuilder(rows, std::move(plan), missing, lenient).read();
}

TrainTest read_table(const TableSpec& spec, Rng rng) {
  TablePlan plan = make_plan(spec);
  const std::unique_ptr<RowSource> rows = open_table(spec);
  RawTable raw = read_rows(*rows, std::move(plan), spec.missing);
  require_samples(raw, spec.file);
  std::optional<RawTable> other;
  if (!spec.test.empty()) other = read_test(spec, raw);
  if (spec.given) {
    const ColumnOrder order = order_of(raw.plan, spec.given->columns);
    reorder(raw, order);
    if (other) reorder(*other, order);
  }
  DataFacts facts = facts_of(spec, rows->format(), raw);
  require_sense(spec, facts);
  count_missing(raw, facts);
  sort_levels(raw, facts);
  if (other) {
    require_samples(*other, spec.test);
    count_missing(*other, facts);
    sort_levels(*other, facts);
  } else if (spec.held_out > 0) {
    const std::vector<std::uint32_t> samples = draw_held_out(spec, raw.rows, rng);
    other = hold_out(raw, samples);
    facts.held_out = file_rows(samples, raw.left_out);
  }
  measure(spec, raw, facts);
  const std::shared_ptr<Dataset> train = dataset_of(raw, facts, spec.file);
  std::shared_ptr<Dataset> test;
  if (other) test = dataset_of(*other, facts, spec.test.empty() ? spec.file : spec.test);
  train->facts = std::make_shared<const DataFacts>(std::move(facts));
  if (test) test->facts = train->facts;
  return {train, test};
}

std::string difference(const DataFacts& a, const DataFacts& b) {
  if (a.columns.size() != b.columns.size())
    return std::to_string(a.columns.size()) + " columns against " +
           std::to_string(b.columns.size());
  for (std::size_t k = 0; k < a.columns.size(); ++k) {
    if (a.columns[k].name != b.columns[k].name)
      return "column " + std::to_string(k + 1) + " is " + shown(a.columns[k].name) + " against " +
             shown(b.columns[k].name);
    if (a.columns[k].levels != b.columns[k].levels)
      return "the values of column " + shown(a.columns[k].name) + " differ";
  }
  return a.classes == b.classes ? "" : "the classes differ";
}

}  // namespace gv
