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

/// A row that cannot be read, such as one with too few values; later rows can.
struct RowError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The rows of a table file in order. A row has numbers, in which NaN is a missing value, followed
/// by words: CSV has only words, NPY only numbers or only words, and in NPZ and LIBSVM the target
/// may be a word. Numbers and words together have one entry for each name.
class RowSource {
 public:
  virtual ~RowSource() = default;

  const std::string& format() const { return format_; }
  const std::vector<std::string>& names() const { return names_; }
  /// The default column to predict; none if the user has to name it.
  std::optional<std::size_t> usual_target() const { return usual_target_; }

  /// Reads the next row; returns false if there is none. Throws RowError if the following row can
  /// still be read, else std::runtime_error; both are "path:line: the error".
  virtual bool next() = 0;
  /// Returns the numbers of this row; the words are the columns after the numbers.
  std::span<const double> numbers() const { return numbers_; }
  std::span<const std::string_view> words() const { return words_; }
  /// Returns a number of this row as written in the file, for columns whose numbers are names:
  /// whole numbers of 64 bits have more digits than a double.
  virtual std::string number_text(std::size_t column) const;
  /// Returns the place of this row: "train.csv:12".
  virtual std::string place() const = 0;
  /// Returns an upper bound of the number of rows, which the file's size limits.
  virtual std::uint64_t most_rows() = 0;

 protected:
  std::string format_;
  std::vector<std::string> names_;
  std::optional<std::size_t> usual_target_;
  std::vector<std::string_view> words_;
  std::vector<double> numbers_;
};

/// The parts of a file's form that are not in the file.
struct RowForm {
  bool header = true;  ///< CSV: the first line has the names of columns; otherwise x0, x1, ...
  std::size_t least_columns = 0;  ///< LIBSVM: least number of columns; absent ones are zero
  /// LIBSVM: the number of the first column, 0 or 1. If empty, 0 if the file has a column 0, else
  /// 1.
  std::optional<std::uint32_t> first_column{};
};

/// Opens a file of CSV, NPY, NPZ or LIBSVM rows, distinguished by the first bytes. Throws
/// std::runtime_error "path: the error, and a remedy".
std::unique_ptr<RowSource> open_rows(const std::string& path, const RowForm& form = {});

// The formats by name.
std::unique_ptr<RowSource> open_csv(const std::string& path, bool header);
std::unique_ptr<RowSource> open_npy(const std::string& path);
std::unique_ptr<RowSource> open_npz(const std::string& path);
std::unique_ptr<RowSource> open_libsvm(const std::string& path, const RowForm& form);

}  // namespace gv
