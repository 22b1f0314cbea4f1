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

/// A row that was left out.
struct LeftOut {
  std::uint64_t row = 0;  ///< row of the file, from 0
  std::string why{};      ///< "a.csv:12: the error"; "" if dropped for a missing value
};

/// The contents of a file, a number for each cell: for a category the index of its value in
/// `levels`, NaN if it is missing.
struct RawTable {
  TablePlan plan;  ///< with all values of each category, in order of appearance
  std::uint64_t rows = 0;
  std::size_t width = 0;               ///< number of feature columns
  std::vector<double> cells;           ///< rows x width
  std::vector<double> targets;         ///< rows
  std::vector<std::uint64_t> missing;  ///< number of missing values by column of the file
  std::uint64_t dropped = 0;           ///< rows
  std::vector<LeftOut> left_out;       ///< the dropped rows
};

/// Reads all rows of a file by the plan. Throws TableError with all problems of rows and plan; if
/// `lenient`, leaves out invalid rows instead.
RawTable read_rows(RowSource& rows, TablePlan plan, MissingValue missing, bool lenient = false);

}  // namespace gv
