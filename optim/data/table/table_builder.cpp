#include "optim/data/table/table_builder.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <utility>

#include "optim/data/field.h"
#include "optim/data/table/bounds.h"
#include "optim/data/table/table_problems.h"
#include "optim/data/table/words.h"
#include "optim/printable.h"

namespace gv {
namespace {

using Use = PlannedColumn::Use;
using Fault = TableProblems::Fault;
constexpr float missing_cell = std::numeric_limits<float>::quiet_NaN();

class TableBuilder {
 public:
  TableBuilder(RowSource& rows, TablePlan plan, MissingValue missing)
      : rows_(rows), missing_(missing), known_(plan.columns.size()) {
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
    } catch (const std::runtime_error& e) {  // there is no going on behind it
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
      problems_.add(no_target, Fault::row, e.what());
    }
    return true;
  }
  /// The cell counts as missing until all problems are told.
  float complain(std::size_t k, Fault fault, std::string_view word, const std::string& what) {
    problems_.add(k, fault, word, rows_.place() + ": " + what);
    return missing_cell;
  }
  const PlannedColumn& column(std::size_t k) const { return table_.plan.columns[k]; }

  void take_row() {
    const std::uint64_t number = seen_++;
    if ((missing_ == MissingValue::drop && has_gap()) ||
        (missing_ == MissingValue::mean && lacks_target())) {
      ++table_.dropped;
      table_.left_out.push_back(number);
      return;
    }
    const std::size_t before = table_.cells.size();
    const std::size_t numbers = rows_.numbers().size();
    float target = 0;
    table_.cells.resize(before + table_.width);
    float* to = table_.cells.data() + before;
    for (std::size_t k = 0; k < table_.plan.columns.size(); ++k) {
      if (column(k).use == Use::ignored) continue;
      const float cell =
          k < numbers ? take(k, rows_.numbers()[k]) : take(k, rows_.words()[k - numbers]);
      (k == table_.plan.target ? target : *to++) = cell;
    }
    table_.targets.push_back(target);
    ++table_.rows;
  }

  /// Looks before anything of a row is taken: a class or value that only such rows have is none.
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
    return k < numbers ? std::isnan(rows_.numbers()[k]) : is_missing(rows_.words()[k - numbers]);
  }
  /// A mean is no answer there.
  bool lacks_target() const { return table_.plan.target != no_target && lacks(table_.plan.target); }

  float take(std::size_t k, std::string_view word) {
    if (column(k).use == Use::category) {
      if (is_missing(word)) return gap(k);
      return level(k, word);
    }
    if (column(k).use == Use::date) return take_date(k, word);
    if (column(k).decimal != '.') return take_odd(k, word);
    float value = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error == std::errc{} && end == word.data() + word.size() && std::isfinite(value))
      return value;
    return take_odd(k, word);
  }

  float take_date(std::size_t k, std::string_view word) {
    if (is_missing(word)) return gap(k);
    if (const std::optional<double> days = days_of(word)) return static_cast<float>(*days);
    return complain(k,
                    Fault::number,
                    word,
                    shown(word) + " in column " + shown(column(k).name) +
                        " is no date, and `dates` names the column; write 2024-03-01 or 1.3.2024, "
                        "leave it empty where it is missing, or name the column under `ignore`");
  }

  /// Takes what is no plain float: missing, with a plus sign or decimal comma, too small, or wrong.
  float take_odd(std::size_t k, std::string_view word) {
    if (is_missing(word)) return gap(k);
    const std::optional<double> value = number_in(word, column(k).decimal);
    if (value && !std::isnan(*value)) return narrowed(k, *value);
    return complain(k,
                    Fault::number,
                    word,
                    shown(word) + " in column " + shown(column(k).name) + " is no number, and " +
                        column(k).told +
                        "; mend it, leave it empty where it is missing, or name the column "
                        "under `one_hot` or `ignore`");
  }

  float take(std::size_t k, double value) {
    if (std::isnan(value)) return gap(k);
    if (column(k).use == Use::category) return level(k, name_of(value));
    return narrowed(k, value);
  }

  float narrowed(std::size_t k, double value) {
    if (std::abs(value) <= static_cast<double>(std::numeric_limits<float>::max()))
      return static_cast<float>(value);
    return complain(k,
                    Fault::range,
                    "",
                    "the number in column " + shown(column(k).name) +
                        " is beyond what a float holds, 3.4e38; mend it or scale the column");
  }

  float gap(std::size_t k) {
    ++table_.missing[k];
    if (missing_ == MissingValue::refuse)
      complain(k,
               Fault::missing,
               "",
               "no value in column " + shown(column(k).name) +
                   "; say `missing: mean` or `missing: drop`, or mend the file");
    return missing_cell;
  }

  /// The place of a category's value among those of its column.
  float level(std::size_t k, std::string_view word) {
    const PlannedColumn& c = column(k);
    if (!c.by_value) return level_called(k, word);
    const std::optional<double> value = number_in(word, c.decimal);
    if (value && std::isfinite(*value)) return level_called(k, name_of(*value));
    return complain(k,
                    Fault::number,
                    word,
                    "the class " + shown(word) + " is no number, and " + c.told +
                        "; mend it, or write all of them as text");
  }

  float level_called(std::size_t k, std::string_view name) {
    auto& known = known_[k];
    if (const auto it = known.find(name); it != known.end()) return static_cast<float>(it->second);
    const std::string where = shown(name) + " in column " + shown(column(k).name);
    if (column(k).closed) return complain(k, Fault::level, name, where + unknown_text(k));
    const bool target = k == table_.plan.target;
    const std::size_t most = target ? table_bounds::classes : table_bounds::levels;
    if (known.size() == most)
      return complain(k,
                      Fault::level,
                      "",
                      where + " is one " + (target ? "class" : "value") + " more than the " +
                          std::to_string(most) + " that a column may have; " +
                          (target ? "say `task: regression`, or name another target"
                                  : "leave the column out: `ignore: [NAME]`"));
    if (name.size() > table_bounds::name_bytes)
      return complain(k,
                      Fault::range,
                      "",
                      where + " is longer than " + std::to_string(table_bounds::name_bytes) +
                          " bytes; leave the column out: `ignore: [NAME]`");
    if (!is_printable(name))
      return complain(k, Fault::text, "", where + " is no UTF-8 text; save the file as UTF-8");
    const auto at = known.size();
    known.emplace(name, at);
    table_.plan.columns[k].levels.emplace_back(name);
    return static_cast<float>(at);
  }

  /// Says who knows no other values of a category.
  std::string unknown_text(std::size_t k) const {
    if (!column(k).told.empty())
      return " is unknown to " + column(k).told + "; leave the line out, or mend it";
    return std::string(" is in no training sample") +
           (k == table_.plan.target ? ", so nobody can learn it" : "") +
           "; leave the line out, or put both files together and say `held_out: 20 %`";
  }

  RowSource& rows_;
  MissingValue missing_;
  std::vector<std::map<std::string, std::size_t, std::less<>>> known_;
  RawTable table_;
  TableProblems problems_;
  std::uint64_t seen_ = 0;
};

}  // namespace

RawTable read_rows(RowSource& rows, TablePlan plan, MissingValue missing) {
  // The plan was made when the file was open before: somebody may have written it anew.
  if (!std::ranges::equal(rows.names(), plan.columns, {}, {}, &PlannedColumn::name))
    throw std::runtime_error(rows.place() + ": the file has changed while it was read; try again");
  return TableBuilder(rows, std::move(plan), missing).read();
}

}  // namespace gv
