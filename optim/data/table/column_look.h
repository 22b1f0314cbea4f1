#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "optim/data/table/row_source.h"
#include "optim/data/table/table_plan.h"

namespace gv {

/// Statistics of a column's words. A word that is neither missing nor a finite number is text.
struct ColumnLook {
  std::uint64_t missing = 0;
  std::map<std::string, std::uint64_t> absent;  ///< words that count as missing, with counts
  std::uint64_t numbers = 0;
  std::uint64_t text = 0;              ///< text words, of which the next five count kinds
  std::uint64_t commas = 0;            ///< numbers with a decimal comma: `12,5`
  std::uint64_t grouped = 0;           ///< numbers with a comma before three digits: 1234 or 1.234
  std::uint64_t dates = 0;             ///< dates, see days_of
  std::uint64_t doubtful = 0;          ///< dates with an ambiguous month
  std::uint64_t nones = 0;             ///< Python's None or NaT, text only among words
  std::string first_text, text_place;  ///< as in shown(), and its place
  std::string first_comma;             ///< as first_text
  bool fractions = false;
  double mean = 0, squares = 0;  ///< mean of numbers and dates; squares around it, summed
  /// The different numbers as written: at most table_bounds::few + 1.
  std::set<std::string, std::less<>> different;
  std::set<std::string, std::less<>> words;  ///< different text words: at most `most_words` + 1

  static constexpr std::size_t most_words = table_bounds::levels;

  /// Takes a word of the row; numbers have this decimal mark.
  void at(std::string_view word, const RowSource& rows, char decimal);
  /// Takes a number of column k of the row.
  void at(double value, const RowSource& rows, std::size_t k);
  /// Decides whether None and NaT are text, after all rows.
  void finish();

  std::uint64_t values() const { return numbers + text; }
  /// Returns the deviation of the numbers and dates.
  double deviation() const {
    return std::sqrt(squares / std::max(1.0, static_cast<double>(numbers + dates)));
  }
  /// Returns the root of their mean square.
  double scale() const { return std::hypot(mean, deviation()); }
  /// Returns whether it is, or may be, a column of numbers with the comma as decimal mark.
  bool has_commas() const {
    return commas + grouped > 0 && 2 * (commas + grouped) >= text && !fractions;
  }
  bool is_dates() const { return text > 0 && dates == text && numbers == 0; }
  /// Returns whether its values are classes by default.
  bool has_classes() const {
    return text > 0 || (!fractions && different.size() <= table_bounds::few);
  }

 private:
  void take_number(double value, std::string_view written);
  void measure(double value);
  void take_text(std::string_view word, const RowSource& rows);
  std::string none_, none_place_;  ///< the first None or NaT, and its place
};

/// Looks at the first `most` rows. Skips rows without exactly one value per column.
std::vector<ColumnLook> look_at(RowSource& rows, std::uint64_t most, char decimal);

}  // namespace gv
