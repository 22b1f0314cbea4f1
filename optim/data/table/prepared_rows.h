#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "optim/data/data_facts.h"
#include "optim/data/dataset.h"
#include "optim/data/table/table_builder.h"
#include "optim/data/table/table_plan.h"

namespace gv {

/// Rows of another file, prepared as the training samples were.
struct PreparedRows {
  std::shared_ptr<Dataset> data;  ///< without labels or targets where none were asked for
  std::vector<LeftOut> left_out;  ///< by `missing: drop`, or since something is wrong with the row
};

/// The way in which a model's table was prepared.
struct Preparation {
  DataFacts facts;  ///< columns, classes, means and deviations
  MissingValue missing = MissingValue::refuse;
};

/// Columns are found by their names, wherever they stand; those that the model does not know are
/// overlooked. With `target` the file must have the target too, and a value in each row; without
/// it, rows of which something is wrong are left out. Throws std::runtime_error "path:line: what is
/// wrong, and what to do".
PreparedRows prepare_rows(const std::string& path, const Preparation& how, bool target);

/// Gives the values of categories and the classes in the cells of `raw` the order of `facts`.
void sort_levels(RawTable& raw, const DataFacts& facts);

/// The rows of a file as samples, filled, scaled and shifted as `facts` says; only then they become
/// floats. A category becomes one feature of 0 or 1 for each of its values, or their shares if the
/// value is missing. Cells have the order of `facts` (sort_levels). A plan without a target
/// (no_target) gives samples without labels. Takes the cells out of `raw`. Throws
/// std::runtime_error "path: ..." where categories become too many numbers.
std::shared_ptr<Dataset> dataset_of(RawTable& raw, const DataFacts& facts, const std::string& path);

/// The places in a file of columns that are known by their names.
struct ColumnOrder {
  std::vector<std::size_t> features;  ///< of each feature, in the order that is wanted
  std::size_t target = no_target;
};

/// Puts cells, counts and columns of a table from the file's order into that one; columns that the
/// order does not name are left out.
void reorder(RawTable& raw, const ColumnOrder& order);

/// Returns where the columns of `wanted` stand among those of a plan that has all of them.
ColumnOrder order_of(const TablePlan& plan, std::span<const ColumnFacts> wanted);

/// Measures training samples in double, as the file has them: means and deviations of numbers, the
/// share of each value of a category, and the target of a regression with its shift. Where the spec
/// gives statistics, these are taken. Cells of categories are places in the levels of `facts`
/// (see sort_levels). Throws std::runtime_error if a part of a table needs a shift that all parts
/// would have to know.
void measure(const TableSpec& spec, const RawTable& train, DataFacts& facts);

/// Returns what is subtracted from the targets of a regression before they become floats: their
/// mean if it lies more than 1,000 deviations from 0, else 0. Floats hold seconds since 1970 only
/// to two minutes.
double shift_of(const DataFacts& facts);

}  // namespace gv
