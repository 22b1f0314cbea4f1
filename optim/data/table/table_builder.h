#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "optim/data/table/row_source.h"
#include "optim/data/table/table_plan.h"

namespace gv {

/// The contents of a file, a number for each cell: of a category the place of its value in
/// `levels`, NaN where it is missing.
struct RawTable {
  TablePlan plan;  ///< with all values of each category, in order of appearance
  std::uint64_t rows = 0;
  std::size_t width = 0;                ///< columns that are features
  std::vector<float> cells;             ///< rows x width
  std::vector<float> targets;           ///< rows
  std::vector<std::uint64_t> missing;   ///< of each column of the file
  std::uint64_t dropped = 0;            ///< rows
  std::vector<std::uint64_t> left_out;  ///< which those are, of the file's rows from 0
};

/// Reads all rows of a file by the plan. Throws TableError of all that is wrong with them, and of
/// the plan's problems.
RawTable read_rows(RowSource& rows, TablePlan plan, MissingValue missing);

}  // namespace gv
