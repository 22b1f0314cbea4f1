#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace gv {

/// All that is wrong with a table; what() has a line for each problem.
class TableError : public std::runtime_error {
 public:
  explicit TableError(std::vector<std::string> problems);
  const std::vector<std::string>& problems() const { return problems_; }

 private:
  std::vector<std::string> problems_;
};

/// Collects what is wrong with a table, so that it is told in one go: of each column and kind of
/// fault the first place, how many rows more, and some of the words there.
class TableProblems {
 public:
  enum class Fault : std::uint8_t { row, missing, number, range, level, text };

  /// Notes a problem of the whole table.
  void add(std::string text);
  /// Notes one of a row: its `text` ("a.csv:12: what is wrong") is told of the first one only.
  void add(std::size_t column, Fault fault, std::string text);
  /// Does the same for one of a word.
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
    std::uint64_t more = 0;          ///< rows with the same fault
    std::vector<std::string> words;  ///< of these, some that differ; the first is the first row's
  };
  Entry* find(std::size_t column, Fault fault);

  std::vector<Entry> entries_;
  std::uint64_t left_out_ = 0;  ///< entries that are too many to tell
};

}  // namespace gv
