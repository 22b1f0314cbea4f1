#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gv {

/// Returns whether a word means a missing value: it is empty, `?` or `-`, or in any case NA, <NA>,
/// N/A, #N/A, #NA, NaN, -NaN, null or what Windows prints for NaN.
bool is_missing(std::string_view word);

/// Returns whether a word means a missing value among numbers or dates: is_missing, or Python's
/// None and NaT. Among words these two are values, such as the class `None`.
bool lacks_number(std::string_view word);

/// Returns the word as a number with this decimal mark. With `,` points may separate thousands
/// (`1.234,5` and `1.234` are 1234.5 and 1234), and nothing else: `12.5` is then not a number.
std::optional<double> number_in(std::string_view word, char decimal);

/// Returns whether the word is a number with `,` as its decimal mark, but not with `.`.
bool has_decimal_comma(std::string_view word);

/// Returns days since 1970-01-01 of `2024-03-01`, `2024/3/1`, `2024.03.01` or `1.3.2024`, with an
/// optional time after a blank or `T`: `12:30`, `12:30:15.5`, `12:30Z`; years 1 to 9999 of the
/// Gregorian calendar.
std::optional<double> days_of(std::string_view word);

/// Returns the date of a number of days since 1970-01-01, `2024-03-01`; "" beyond the years 1 to
/// 9999.
std::string date_text(double days);

/// Returns whether the word is a date with an ambiguous month: `03/04/2024`.
bool is_doubtful_date(std::string_view word);

/// Returns the name of a number that is a category or a class: all digits of a whole number up to
/// 2^53, else the shortest text that parses to it.
std::string name_of(double value);

/// Returns a name with line breaks and tabs as visible characters, `↵` and `⇥`, so that it prints
/// on one line.
std::string visible_name(std::string_view word);

/// Lists names for a message: "`a`, `b` and 12 more".
std::string list_of(const std::vector<std::string>& names);

/// Returns whether a key's list of columns (`ignore`, `dates`, `one_hot`) has the name.
bool is_listed(const std::vector<std::string>& names, const std::string& name);

/// Returns the words in ascending order: by value if all are numbers.
std::vector<std::string> sorted_levels(std::vector<std::string> levels);

}  // namespace gv
