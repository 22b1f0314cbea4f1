#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "optim/data/table/row_source.h"
#include "optim/data/table/table.h"

namespace gv {

/// A column of the file, with what it is for.
struct PlannedColumn {
  std::string name;
  enum class Use : std::uint8_t { number, date, category, ignored } use = Use::number;
  bool numeric = false;  ///< a category whose values are numbers; other words are missing values
  bool closed = false;   ///< of a category: there are no values but `levels`
  std::vector<std::string> levels;  ///< of a category: those that are known
  std::string told;    ///< why it is what it is, for a message on a value that is not; where it is
                       ///< closed, who knows no other values
  char decimal = '.';  ///< the decimal mark of its numbers
};

/// Stands instead of a target: the file's columns are features and nothing else.
inline constexpr std::size_t no_target = std::numeric_limits<std::size_t>::max();

/// The way in which the rows of a file are read.
struct TablePlan {
  std::vector<PlannedColumn> columns;  ///< of the file, in its order
  std::size_t target = 0;
  std::vector<std::string> problems{};  ///< that the first rows show
};

/// The form of files with these columns: a LIBSVM file may name fewer, and it counts from 0 if that
/// is a column's name.
RowForm form_of(bool header, const std::vector<ColumnFacts>& columns);
/// The rows of `file`; where columns are given, they have the form of these.
std::unique_ptr<RowSource> open_table(const TableSpec& spec);
/// Looks at the first rows. Throws std::runtime_error where the spec names columns that are none.
TablePlan make_plan(const TableSpec& spec);

}  // namespace gv
