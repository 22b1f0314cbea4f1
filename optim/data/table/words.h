#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gv {

/// Returns whether a word says that there is no value: it is empty, `?` or `-`, or in any case of
/// its letters NA, <NA>, N/A, #N/A, #NA, NaN, -NaN, null or what Windows prints for NaN.
bool is_missing(std::string_view word);

/// Returns whether a word stands for no value among numbers or dates: is_missing, or Python's None
/// and NaT. Among words these two are values, such as the class `None`.
bool lacks_number(std::string_view word);

/// Returns the word as a number with this decimal mark. With `,` points may stand between thousands
/// (`1.234,5` and `1.234` are 1234.5 and 1234), and nowhere else: `12.5` is no number then.
std::optional<double> number_in(std::string_view word, char decimal);

/// Returns whether the word is a number with `,` as its decimal mark, and none with `.`.
bool has_decimal_comma(std::string_view word);

/// Returns days since 1970-01-01 of `2024-03-01`, `2024/3/1`, `2024.03.01` or `1.3.2024`, perhaps
/// with a time behind a blank or `T`: `12:30`, `12:30:15.5`, `12:30Z`; years 1 to 9999 of the
/// Gregorian calendar.
std::optional<double> days_of(std::string_view word);

/// Returns the date of a number of days since 1970-01-01, `2024-03-01`; "" beyond the years 1 to
/// 9999.
std::string date_text(double days);

/// Returns whether the word is a date that does not say which number is the month: `03/04/2024`.
bool is_doubtful_date(std::string_view word);

/// Returns how a number is called that names a category or a class: all digits of a whole number
/// up to 2^53, else the shortest text that reads as it.
std::string name_of(double value);

/// Returns a name with its line breaks and tabs as characters that are shown, `↵` and `⇥`: a
/// table's names stand on one line wherever they are printed.
std::string visible_name(std::string_view word);

/// Returns the words in ascending order: as numbers where all of them are.
std::vector<std::string> sorted_levels(std::vector<std::string> levels);

}  // namespace gv
