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
  std::shared_ptr<Dataset> data;  ///< without labels or targets if not requested
  std::vector<LeftOut> left_out;  ///< by `missing: drop`, or for an error in the row
};

/// The preparation of a model's table.
struct Preparation {
  DataFacts facts;  ///< columns, classes, means and deviations
  MissingValue missing = MissingValue::refuse;
};

/// Reads and prepares rows. Columns are found by name, in any order; unknown columns are ignored.
/// With `target` the file must have the target too, and a value in each row; without it, invalid
/// rows are left out. Throws std::runtime_error "path:line: the error, and a remedy".
PreparedRows prepare_rows(const std::string& path, const Preparation& how, bool target);

/// Changes the values of categories and the classes in the cells of `raw` to the order of `facts`.
void sort_levels(RawTable& raw, const DataFacts& facts);

/// Returns the rows of a file as samples, filled, scaled and shifted by `facts`, and only then
/// rounded to floats. A category becomes one feature of 0 or 1 for each of its values, or their
/// shares if the value is missing. Cells have the order of `facts` (sort_levels). A plan without a
/// target (no_target) gives samples without labels. Takes the cells out of `raw`. Throws
/// std::runtime_error "path: ..." if categories become too many numbers.
std::shared_ptr<Dataset> dataset_of(RawTable& raw, const DataFacts& facts, const std::string& path);

/// Indices in a file of columns known by name.
struct ColumnOrder {
  std::vector<std::size_t> features;  ///< by feature, in the wanted order
  std::size_t target = no_target;
};

/// Changes cells, counts and columns of a table from the file's order to this one; drops columns
/// that the order does not name.
void reorder(RawTable& raw, const ColumnOrder& order);

/// Returns the indices of the columns of `wanted` in a plan that has all these columns.
ColumnOrder order_of(const TablePlan& plan, std::span<const ColumnFacts> wanted);

/// Measures training samples in double, as in the file: means and deviations of numbers, the
/// share of each value of a category, and the target of a regression with its shift. Statistics in
/// the spec replace measured ones. Cells of categories are indices into the levels of `facts` (see
/// sort_levels). Throws std::runtime_error if a part of a table needs a shift that all parts would
/// have to share.
void measure(const TableSpec& spec, const RawTable& train, DataFacts& facts);

/// Returns the number subtracted from the targets of a regression before they become floats: their
/// mean if it is more than 1,000 deviations from 0, else 0. Floats resolve seconds since 1970 only
/// to two minutes.
double shift_of(const DataFacts& facts);

}  // namespace gv
