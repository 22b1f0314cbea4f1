#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "optim/data/data_facts.h"
#include "optim/data/dataset.h"
#include "optim/data/table/row_source.h"
#include "optim/rng.h"

namespace gv::table_bounds {

/// Limits of a user's table: nothing larger is allocated, whatever a file claims.

inline constexpr std::uint64_t rows = 1'000'000'000;
inline constexpr std::size_t columns = 100'000;         ///< columns of the file
inline constexpr std::size_t features = 1'000'000;      ///< after categories are spread out
inline constexpr std::size_t levels = 1000;             ///< values of a category
inline constexpr std::size_t classes = 256;             ///< a label is a byte
inline constexpr std::size_t name_bytes = 200;          ///< name of a column, a category or a class
inline constexpr std::size_t record_bytes = 16U << 20;  ///< a line of a CSV file
inline constexpr std::uint64_t dense = 1ULL << 28;      ///< numbers from sparse rows
inline constexpr std::uint64_t spread = 1ULL << 32;     ///< numbers from categories
inline constexpr std::size_t many = 100;                ///< levels that cause a warning
inline constexpr std::size_t looked_at = 1000;          ///< rows that decide the kind of a column
inline constexpr std::size_t few = 20;  ///< different whole numbers that are classes

}  // namespace gv::table_bounds

namespace gv {

/// The ways to treat a sample without a value in some column.
enum class MissingValue : std::uint8_t {
  refuse,  ///< an error
  mean,    ///< the column's mean over the training samples; of a category, the share of each value;
           ///< without a target the sample is left out
  drop,    ///< the sample is left out
};

/// A user's table in a fleet file. is_missing (words.h) defines the missing values; NumPy's NaN is
/// one too.
struct TableSpec {
  std::string file;         ///< CSV, NPY, NPZ or LIBSVM: see row_source.h
  std::string test;         ///< a file with the same columns; "" for a part of `file`
  double held_out = 0;      ///< part of the samples that is drawn as the test set
  std::string target;       ///< the column to predict; "" for the last of a file without names
  bool regression = false;  ///< true if the target is a number, false for classes
  bool standardize = true;  ///< scales numbers to mean 0, deviation 1 in training
  std::optional<std::vector<std::string>>
      one_hot;                      ///< columns of categories; none: the columns of text
  std::vector<std::string> ignore;  ///< columns to leave out
  std::vector<std::string> dates;   ///< columns of dates, which become days since 1970-01-01
  char decimal = '.';               ///< the decimal mark: `.`, or `,` with `.` between thousands
  MissingValue missing = MissingValue::refuse;
  /// CSV: true if the first line has the columns' names. Empty means true, with a notice if the
  /// line looks like data.
  std::optional<bool> header{};
  bool part = false;  ///< `file` is a part of a table whose other parts are read elsewhere
  /// Given columns, classes, means and deviations, instead of the file's; or null.
  std::shared_ptr<const DataFacts> given;
  std::string given_by = "the statistics";  ///< the source of `given`, in messages

  bool has_header() const { return header.value_or(true); }
};

/// Features are the columns in the file's order, a category as one feature of 0 or 1 for each of
/// its values in sorted order; classes are in sorted order, by value if all are numbers; given
/// columns, values and classes are found by name and have the order of `given`. Values that no
/// training file has are errors in a test file. `facts` of both sets describe the table. Without
/// `test` and `held_out` there is no test set (null). Equal file, spec and rng give equal bits.
/// Throws TableError (table_problems.h) with all errors in rows, or std::runtime_error; both are
/// "path:line: the error, and a remedy".
TrainTest read_table(const TableSpec& spec, Rng rng);

/// A guess of an unnamed task from the first 1,000 rows: text and at most 20 different whole
/// numbers are classes, other numbers a regression.
struct TaskGuess {
  bool regression = false;
  std::string why;  ///< "`species` is text"
};
TaskGuess guess_task(const TableSpec& spec);

/// A guess from the first 1,000 rows of a CSV file: whether its first line is data and not names.
struct HeaderGuess {
  bool sure = false;
  std::string why;  ///< "`Iris-setosa` is also a value in its column"; "" for names
};
HeaderGuess guess_header(const std::string& file);

/// Lists warnings about a readable table, by its first 1,000 rows: names that look like data,
/// classes that are the same number, columns of dates, and columns of many different words, because
/// each word becomes a feature.
std::vector<std::string> table_warnings(const TableSpec& spec);

/// Returns why two files are not parts of one table: other columns, categories or classes; or "".
std::string difference(const DataFacts& a, const DataFacts& b);

/// A column of the file, and its use.
struct PlannedColumn {
  std::string name;
  enum class Use : std::uint8_t { number, date, category, ignored } use = Use::number;
  bool numeric = false;  ///< a category whose values are numbers; other words are missing values
  bool closed = false;   ///< a category without values other than `levels`
  std::vector<std::string> levels;  ///< known values of a category
  std::string told;    ///< reason for `use`, or source of a closed category, for messages
  char decimal = '.';  ///< decimal mark of its numbers
};

/// In place of a target: all columns of the file are features.
inline constexpr std::size_t no_target = std::numeric_limits<std::size_t>::max();

/// The plan for reading the rows of a file.
struct TablePlan {
  std::vector<PlannedColumn> columns;  ///< columns of the file, in order
  std::size_t target = 0;
  std::vector<std::string> problems{};  ///< problems of the first rows
};

/// The form of files with these columns: a LIBSVM file may name fewer, and counts from 0 if that is
/// a column's name.
RowForm form_of(bool header, const std::vector<ColumnFacts>& columns);
/// Opens the rows of `file`, in the form of given columns if there are any.
std::unique_ptr<RowSource> open_table(const TableSpec& spec);
/// Makes a plan from the first rows. Throws std::runtime_error if the spec names unknown columns.
TablePlan make_plan(const TableSpec& spec);

}  // namespace gv
