#pragma once

#include <memory>
#include <string>
#include <vector>

#include "optim/data/data_facts.h"
#include "optim/data/dataset.h"
#include "optim/data/table/table.h"
#include "optim/data/table/table_builder.h"

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

}  // namespace gv
