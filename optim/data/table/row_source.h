#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace gv {

/// A row that cannot be taken, as one with too few values; those behind it can.
struct RowError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The rows of a table file, one after the other. A row has numbers, in which NaN is a missing
/// value, followed by words: CSV has words only, NPY numbers or words only, and in NPZ and LIBSVM
/// the target may be a word. Numbers and words together have one entry for each name.
class RowSource {
 public:
  virtual ~RowSource() = default;

  const std::string& format() const { return format_; }
  const std::vector<std::string>& names() const { return names_; }
  /// The column that is to be told when nobody says otherwise. Nothing: the user has to say it.
  std::optional<std::size_t> usual_target() const { return usual_target_; }

  /// The next row; false: there is none. Throws RowError where the one behind it can still be
  /// taken, else std::runtime_error; both say "path:line: what is wrong".
  virtual bool next() = 0;
  /// Returns the numbers of this row; the first word stands in the column behind the last of them.
  std::span<const double> numbers() const { return numbers_; }
  std::span<const std::string_view> words() const { return words_; }
  /// Returns a number of this row as the file has it, for columns whose numbers are names: whole
  /// numbers of 64 bits have more digits than a double.
  virtual std::string number_text(std::size_t column) const;
  /// Says where this row stands: "train.csv:12".
  virtual std::string place() const = 0;
  /// No more rows than this will come. What is allocated for them is bounded by what the file has.
  virtual std::uint64_t most_rows() = 0;

 protected:
  std::string format_;
  std::vector<std::string> names_;
  std::optional<std::size_t> usual_target_;
  std::vector<std::string_view> words_;
  std::vector<double> numbers_;
};

/// The parts of a file's form that the file does not say itself.
struct RowForm {
  bool header = true;  ///< CSV: the first line has the names of columns; otherwise x0, x1, ...
  std::size_t least_columns = 0;  ///< LIBSVM: columns that the file does not name are zero
  /// LIBSVM: the number of the first column, 0 or 1. Empty: 0 if the file has a column 0, else 1.
  std::optional<std::uint32_t> first_column{};
};

/// A file of CSV, NPY, NPZ or LIBSVM rows, told apart by its first bytes. Throws
/// std::runtime_error "path: what is wrong, and what to do".
std::unique_ptr<RowSource> open_rows(const std::string& path, const RowForm& form = {});

// The formats, each in the file of its name.
std::unique_ptr<RowSource> open_csv(const std::string& path, bool header);
std::unique_ptr<RowSource> open_npy(const std::string& path);
std::unique_ptr<RowSource> open_npz(const std::string& path);
std::unique_ptr<RowSource> open_libsvm(const std::string& path, const RowForm& form);

}  // namespace gv
