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

/// The rows of a table file, one after the other. A row is numbers, in which NaN is a missing
/// value, and behind them words: those of CSV are words alone, NPY and LIBSVM numbers alone, and of
/// NPZ the target may be a word. Both together have one entry for each name.
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

/// A file of CSV, NPY, NPZ or LIBSVM rows, told apart by its first bytes. Throws
/// std::runtime_error "path: what is wrong, and what to do".
/// Where a LIBSVM file names fewer columns than `least_columns`, the others are zero.
std::unique_ptr<RowSource> open_rows(const std::string& path, std::size_t least_columns = 0);

// The formats, each in the file of its name.
std::unique_ptr<RowSource> open_csv(const std::string& path);
std::unique_ptr<RowSource> open_npy(const std::string& path);
std::unique_ptr<RowSource> open_npz(const std::string& path);
std::unique_ptr<RowSource> open_libsvm(const std::string& path, std::size_t least_columns);

}  // namespace gv
