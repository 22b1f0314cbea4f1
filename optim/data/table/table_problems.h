#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace gv {

/// All errors in a table; what() has a line for each problem.
class TableError : public std::runtime_error {
 public:
  explicit TableError(std::vector<std::string> problems);
  const std::vector<std::string>& problems() const { return problems_; }

 private:
  std::vector<std::string> problems_;
};

/// Collects the errors in a table, to report them together: for each column and kind of fault the
/// first place, the number of further rows, and some of their words.
class TableProblems {
 public:
  enum class Fault : std::uint8_t { row, missing, number, range, level, text };

  /// Notes a problem of the whole table.
  void add(std::string text);
  /// Notes a problem of a row; only the first `text` ("a.csv:12: the error") is reported.
  void add(std::size_t column, Fault fault, std::string text);
  /// Notes a problem of a word.
  void add(std::size_t column, Fault fault, std::string_view word, std::string text);
  bool any() const { return !entries_.empty(); }
  /// Throws TableError if there are any problems.
  void refuse() const;

 private:
  struct Entry {
    std::size_t column = 0;
    Fault fault = Fault::row;
    bool of_rows = false;
    std::string text;
    std::uint64_t more = 0;          ///< number of further rows with the fault
    std::vector<std::string> words;  ///< some different words; the first row's comes first
  };
  Entry* find(std::size_t column, Fault fault);

  std::vector<Entry> entries_;
  std::uint64_t left_out_ = 0;  ///< number of entries beyond the limit
};

}  // namespace gv
