#include <algorithm>
#include <cmath>
#include <optional>
#include <stdexcept>
#include <utility>

#include "optim/data/field.h"
#include "optim/data/held_out.h"
#include "optim/data/table/column_order.h"
#include "optim/data/table/dataset_of.h"
#include "optim/data/table/scaling.h"
#include "optim/data/table/table.h"
#include "optim/data/table/table_builder.h"
#include "optim/data/table/words.h"

namespace gv {
namespace {

using Use = PlannedColumn::Use;

/// Returns what the training rows say of the columns; means and deviations are still to come.
/// Statistics that are given have their own order.
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

/// Takes samples out that nobody trains on.
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

/// Samples, drawn at random, that nobody trains on.
std::vector<std::uint32_t> draw_held_out(const TableSpec& spec, std::uint64_t samples, Rng rng) {
  if (samples < 2)
    throw std::runtime_error(spec.file + ": one sample cannot be divided into training and test");
  return held_out_rows(static_cast<std::uint32_t>(samples), spec.held_out, rng);
}

/// The rows of the file in which these samples stand: `left_out`, ascending, are none.
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

/// The rows of the test file, whose columns and categories must be the training file's.
RawTable read_test(const TableSpec& spec, const RawTable& train) {
  TablePlan plan = train.plan;
  for (PlannedColumn& column : plan.columns) {
    if (column.use == Use::category && !column.closed) column.told.clear();
    column.closed = column.use == Use::category;
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
  if (facts.classes.size() == 1)
    throw std::runtime_error(spec.file + ": all samples are of one class, " +
                             shown(facts.classes[0]) + "; is " + shown(facts.target) +
                             " the target?");
}

/// Counted in both files.
void count_missing(const RawTable& raw, DataFacts& facts) {
  std::size_t at = 0;
  for (std::size_t k = 0; k < raw.plan.columns.size(); ++k)
    if (k != raw.plan.target && raw.plan.columns[k].use != Use::ignored)
      facts.columns[at++].missing += raw.missing[k];
  facts.dropped += raw.dropped;
}

}  // namespace

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
