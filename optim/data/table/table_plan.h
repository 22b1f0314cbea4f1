#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "optim/data/table/row_source.h"
#include "optim/data/table/table.h"

namespace gv {

/// What a column of the file is for.
struct PlannedColumn {
  std::string name;
  enum class Use : std::uint8_t { number, category, ignored } use = Use::number;
  bool by_value = false;            ///< of a category: its values are numbers, `1.0` is `1`
  bool closed = false;              ///< of a category: there are no values but `levels`
  std::vector<std::string> levels;  ///< of a category: those that are known
  std::string told;                 ///< why it is what it is, for a message on a value that is not
};

/// In the place of a target: the file's columns are features and nothing else.
inline constexpr std::size_t no_target = std::numeric_limits<std::size_t>::max();

/// How the rows of a file are read.
struct TablePlan {
  std::vector<PlannedColumn> columns;  ///< of the file, in its order
  std::size_t target = 0;
};

/// The rows of `file`; where columns are given and a LIBSVM file names fewer, the others are zero.
std::unique_ptr<RowSource> open_table(const TableSpec& spec);
/// Looks at the first rows. Throws std::runtime_error.
TablePlan make_plan(const TableSpec& spec);
/// The words of a missing value.
bool is_missing(std::string_view word);
/// How a number is called that names a category or a class: the shortest text that reads as it.
std::string name_of(double value);
/// Ascending: as numbers where all of them are.
std::vector<std::string> sorted_levels(std::vector<std::string> levels);

}  // namespace gv
