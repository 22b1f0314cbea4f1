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

/// The most that a table of a user may have: whatever a file says, no more than this is allocated.

inline constexpr std::uint64_t rows = 1'000'000'000;
inline constexpr std::size_t columns = 100'000;         ///< of the file
inline constexpr std::size_t features = 1'000'000;      ///< after categories are spread out
inline constexpr std::size_t levels = 1000;             ///< of a category
inline constexpr std::size_t classes = 256;             ///< a label is a byte
inline constexpr std::size_t name_bytes = 200;          ///< of a column, a category or a class
inline constexpr std::size_t record_bytes = 16U << 20;  ///< a line of a CSV file
inline constexpr std::uint64_t dense = 1ULL << 28;      ///< numbers that sparse rows may become
inline constexpr std::uint64_t spread = 1ULL << 32;     ///< numbers that categories may become
inline constexpr std::size_t many = 100;                ///< levels that a user is warned of
inline constexpr std::size_t looked_at = 1000;          ///< rows that say what a column is
inline constexpr std::size_t few = 20;                  ///< whole numbers that are classes

}  // namespace gv::table_bounds

namespace gv {

/// The ways to treat a sample without a value in some column.
enum class MissingValue : std::uint8_t {
  refuse,  ///< it is an error
  mean,    ///< the column's mean over the training samples; of a category, the share of each value;
           ///< without a target the sample is left out
  drop,    ///< the sample is left out
};

/// A table of one's own, as a fleet file asks for it. Which words are missing values says
/// is_missing (words.h); so is numpy's NaN.
struct TableSpec {
  std::string file;         ///< CSV, NPY, NPZ or LIBSVM: see row_source.h
  std::string test;         ///< a file of the same columns; "": a part of `file`
  double held_out = 0;      ///< the part of the samples, drawn at random, that are the test set
  std::string target;       ///< the column to be told; "": the last one, where there are no names
  bool regression = false;  ///< otherwise the target's values are classes
  bool standardize = true;  ///< numbers are scaled to mean 0 and deviation 1 of the training set
  std::optional<std::vector<std::string>> one_hot;  ///< the categories; none: columns of text
  std::vector<std::string> ignore;                  ///< columns that nobody sees
  std::vector<std::string> dates;  ///< columns of dates, which become days since 1970-01-01
  char decimal = '.';              ///< the decimal mark: `.`, or `,` with `.` between thousands
  MissingValue missing = MissingValue::refuse;
  /// CSV: true if the first line has the columns' names. Empty means true, with a notice if the
  /// line looks like data.
  std::optional<bool> header{};
  bool part = false;  ///< `file` is a part of a table whose other parts are read elsewhere
  /// Columns, classes, means and deviations that are given and not taken from the file; or null.
  std::shared_ptr<const DataFacts> given;
  std::string given_by = "the statistics";  ///< who gives them, in messages

  bool has_header() const { return header.value_or(true); }
};

/// Features are the columns in the file's order, a category as one feature of 0 or 1 for each of
/// its values in sorted order; classes are in sorted order, by value where all are numbers;
/// columns, values and classes that are given are found by their names and have the order of
/// `given`. Values that no training file has are errors in a test file. What was read says `facts`
/// of both sets. Without `test` and `held_out` there is no test set (null). The same file, spec and
/// rng give the same bits. Throws TableError (table_problems.h) of all that is wrong with the rows,
/// or std::runtime_error; both say "path:line: what is wrong, and what to do".
TrainTest read_table(const TableSpec& spec, Rng rng);

/// A guess from the first 1,000 rows at a task that the user does not name: text and at most 20
/// different whole numbers are classes, other numbers a regression.
struct TaskGuess {
  bool regression = false;
  std::string why;  ///< "`species` is text"
};
TaskGuess guess_task(const TableSpec& spec);

/// A guess from the first 1,000 rows of a CSV file whether its first line is data and not names.
struct HeaderGuess {
  bool sure = false;
  std::string why;  ///< "`Iris-setosa` stands in its column below, too"; "": they are names
};
HeaderGuess guess_header(const std::string& file);

/// Lists what a user should know of a table that can be read, by its first 1,000 rows: names that
/// look like data, classes that are the same number, columns of dates, and columns of many
/// different words, because each word becomes a feature.
std::vector<std::string> table_warnings(const TableSpec& spec);

/// Says why two files are not of one table: other columns, categories or classes. Empty: they are.
std::string difference(const DataFacts& a, const DataFacts& b);

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
