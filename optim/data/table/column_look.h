#pragma once

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

/// The look of a column in its rows. A word that is neither missing nor a finite number is text.
struct ColumnLook {
  std::uint64_t missing = 0;
  std::map<std::string, std::uint64_t> absent;  ///< words that count as missing, with their number
  std::uint64_t numbers = 0;
  std::uint64_t text = 0;      ///< of these so many
  std::uint64_t commas = 0;    ///< are numbers with a decimal comma: `12,5`
  std::uint64_t grouped = 0;   ///< are numbers with a comma before three digits: 1234 or 1.234
  std::uint64_t dates = 0;     ///< are dates: see days_of
  std::uint64_t doubtful = 0;  ///< are dates that do not say which number is the month
  std::uint64_t nones = 0;     ///< are Python's None or NaT, which are text among words alone
  std::string first_text, text_place;  ///< as shown() shows it, and where it stands
  std::string first_comma;             ///< as first_text
  bool fractions = false;
  /// The numbers as they are written: table_bounds::few and one at most.
  std::set<std::string, std::less<>> different;
  std::set<std::string, std::less<>> words;  ///< of the text: `most_words` and one at most

  static constexpr std::size_t most_words = table_bounds::levels;

  /// Numbers are read with this decimal mark.
  void at(std::string_view word, const RowSource& rows, char decimal);
  /// Takes a number of column k of the row.
  void at(double value, const RowSource& rows, std::size_t k);
  /// Decides what the words None and NaT are, once all rows were seen.
  void finish();

  std::uint64_t values() const { return numbers + text; }
  /// Returns whether it is a column of numbers whose decimal mark is the comma, or may be it.
  bool has_commas() const {
    return commas + grouped > 0 && 2 * (commas + grouped) >= text && !fractions;
  }
  bool is_dates() const { return text > 0 && dates == text && numbers == 0; }
  /// Returns whether its values are classes, if nobody says otherwise.
  bool has_classes() const {
    return text > 0 || (!fractions && different.size() <= table_bounds::few);
  }

 private:
  void take_number(double value, std::string_view written);
  void take_text(std::string_view word, const RowSource& rows);
  std::string none_, none_place_;  ///< the first None or NaT, and its place
};

/// Looks at the first rows, at most so many. A row that has not one value for each column is passed
/// over.
std::vector<ColumnLook> look_at(RowSource& rows, std::uint64_t most, char decimal);

}  // namespace gv
