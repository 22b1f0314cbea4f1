#pragma once

#include <memory>
#include <string>
#include <vector>

#include "optim/data/data_facts.h"
#include "optim/data/dataset.h"
#include "optim/data/table/table.h"

namespace gv {

/// Rows of another file, prepared as the training samples were.
struct PreparedRows {
  std::shared_ptr<Dataset> data;        ///< without labels or targets where none were asked for
  std::vector<std::uint64_t> left_out;  ///< by `missing: drop`, of the file's rows from 0
};

/// The way in which a model's table was prepared.
struct Preparation {
  DataFacts facts;  ///< columns, classes, means and deviations
  MissingValue missing = MissingValue::refuse;
};

/// Columns are found by their names, wherever they stand; those that the model does not know are
/// overlooked. With `target` the file must have the target too, and a value in each row. Throws
/// std::runtime_error "path:line: what is wrong, and what to do".
PreparedRows prepare_rows(const std::string& path, const Preparation& how, bool target);

}  // namespace gv
