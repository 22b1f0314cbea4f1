#include "optim/data/reading/words.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <span>

#include "optim/data/field.h"

namespace gv {
namespace {

bool is_digit(char c) {
  return '0' <= c && c <= '9';
}

/// Returns whether the digits before the decimal comma are whole or grouped: `12345`, `12.345`.
bool is_whole_part(std::string_view digits) {
  const std::size_t point = digits.find('.');
  if (point == std::string_view::npos) return std::ranges::all_of(digits, is_digit);
  if (point == 0 || point > 3 || (digits.size() - point) % 4 != 0) return false;
  for (std::size_t k = 0; k < digits.size(); ++k) {
    const bool grouped = k >= point && (k - point) % 4 == 0;
    if (grouped ? digits[k] != '.' : !is_digit(digits[k])) return false;
  }
  return true;
}

/// Takes at least `least` and at most `most` digits off the front of a text; none if there are
/// fewer.
std::optional<int> take_digits(std::string_view& text, std::size_t least, std::size_t most) {
  std::size_t count = 0;
  while (count < text.size() && count < most && is_digit(text[count])) ++count;
  if (count < least) return std::nullopt;
  const auto value = number_of<int>(text.substr(0, count));
  text.remove_prefix(count);
  return value;
}

/// Compares without regard to case.
bool is_one_of(std::string_view word, std::span<const std::string_view> words) {
  constexpr std::size_t longest = 8;
  if (word.size() > longest) return false;
  std::string lower(word);
  for (char& c : lower)
    if ('A' <= c && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return std::ranges::find(words, lower) != words.end();
}

bool take(std::string_view& text, char c) {
  if (!text.starts_with(c)) return false;
  text.remove_prefix(1);
  return true;
}

/// Takes the days of `2024-03-01` or `1.3.2024` off the front of a text.
std::optional<int> take_days(std::string_view& text) {
  const bool year_first = text.size() > 4 && std::ranges::all_of(text.substr(0, 4), is_digit);
  const auto first = take_digits(text, 1, 4);
  const char mark = text.empty() ? ' ' : text[0];
  if (!first || (mark != '.' && (!year_first || (mark != '-' && mark != '/')))) return std::nullopt;
  take(text, mark);
  const auto month = take_digits(text, 1, 2);
  if (!month || !take(text, mark)) return std::nullopt;
  const auto last = year_first ? take_digits(text, 1, 2) : take_digits(text, 4, 4);
  if (!last) return std::nullopt;
  const std::chrono::year_month_day date{
      std::chrono::year(year_first ? *first : *last),
      std::chrono::month(static_cast<unsigned>(*month)),
      std::chrono::day(static_cast<unsigned>(year_first ? *last : *first))};
  if (!date.ok() || date.year() < std::chrono::year(1)) return std::nullopt;
  return std::chrono::sys_days(date).time_since_epoch().count();
}

/// `12:30` or `12:30:15.5`, with an optional `Z`, to the end of the text, as a part of a day.
std::optional<double> time_of(std::string_view text) {
  if (text.ends_with('Z')) text.remove_suffix(1);
  const auto hours = take_digits(text, 1, 2);
  if (!hours || *hours > 23 || !take(text, ':')) return std::nullopt;
  const auto minutes = take_digits(text, 2, 2);
  if (!minutes || *minutes > 59) return std::nullopt;
  double seconds = 0;
  if (take(text, ':')) {
    const auto value = text.empty() || !is_digit(text[0]) ? std::nullopt : number_of<double>(text);
    if (!value || !(*value < 61)) return std::nullopt;
    seconds = *value;
  } else if (!text.empty()) {
    return std::nullopt;
  }
  return (*hours * 3600 + *minutes * 60 + seconds) / 86400;
}

}  // namespace

bool is_missing(std::string_view word) {
  static constexpr std::string_view words[] = {"",     "?",       "-",      "na",  "<na>",
                                               "n/a",  "#n/a",    "#na",    "nan", "-nan",
                                               "null", "1.#qnan", "-1.#ind"};
  return is_one_of(word, words);
}

bool lacks_number(std::string_view word) {
  static constexpr std::string_view words[] = {"none", "nat"};
  return is_missing(word) || is_one_of(word, words);
}

std::optional<double> number_in(std::string_view word, char decimal) {
  if (decimal == '.') return number_of<double>(word);
  constexpr std::size_t longest = 64;
  if (word.size() > longest) return std::nullopt;
  const std::string_view digits = word.substr(word.starts_with('+') || word.starts_with('-'));
  if (!is_whole_part(digits.substr(0, digits.find_first_of(",eE")))) return std::nullopt;
  const std::size_t comma = std::min(word.find(','), word.size());
  if (word.substr(comma).find('.') != std::string_view::npos) return std::nullopt;
  std::string plain;
  for (const char c : word)
    if (c != '.') plain += c == ',' ? '.' : c;
  return number_of<double>(plain);
}

bool has_decimal_comma(std::string_view word) {
  return word.find(',') != std::string_view::npos && number_in(word, ',');
}

std::optional<double> days_of(std::string_view word) {
  const auto days = take_days(word);
  if (!days) return std::nullopt;
  if (word.empty()) return *days;
  if (!take(word, ' ') && !take(word, 'T')) return std::nullopt;
  const auto time = time_of(word);
  return time ? std::optional(*days + *time) : std::nullopt;
}

std::string date_text(double days) {
  if (!(std::abs(days) < 4e6)) return "";
  const std::chrono::year_month_day date{
      std::chrono::sys_days(std::chrono::days(static_cast<int>(std::floor(days))))};
  const int year = static_cast<int>(date.year());
  if (year < 1 || year > 9999) return "";
  std::array<char, 48> text{};
  std::snprintf(text.data(), text.size(), "%04d-%02u-%02u", year,
                static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()));
  return text.data();
}

bool is_doubtful_date(std::string_view word) {
  const auto first = take_digits(word, 1, 2);
  const char mark = word.empty() ? ' ' : word[0];
  if (!first || (mark != '/' && mark != '-')) return false;
  take(word, mark);
  const auto second = take_digits(word, 1, 2);
  if (!second || !take(word, mark) || !take_digits(word, 4, 4)) return false;
  return word.empty() || word[0] == ' ';
}

std::string name_of(double value) {
  constexpr double exact = 1LL << 53;
  std::array<char, 32> text{};
  char* const last = text.data() + text.size();
  const bool whole = std::abs(value) <= exact && value == std::floor(value);
  const auto end = whole ? std::to_chars(text.data(), last, static_cast<long long>(value)).ptr
                         : std::to_chars(text.data(), last, value).ptr;
  return {text.data(), end};
}

std::string visible_name(std::string_view word) {
  std::string text;
  for (std::size_t k = 0; k < word.size(); ++k) {
    if (word[k] == '\r' && word.substr(k + 1).starts_with('\n')) continue;
    if (word[k] == '\n' || word[k] == '\r')
      text += "↵";
    else if (word[k] == '\t')
      text += "⇥";
    else
      text += word[k];
  }
  return text;
}

std::string list_of(const std::vector<std::string>& names) {
  constexpr std::size_t most = 12;
  std::string text;
  for (std::size_t k = 0; k < std::min(names.size(), most); ++k)
    text.append(k == 0 ? "" : ", ").append(shown(names[k]));
  if (names.size() > most) text += " and " + std::to_string(names.size() - most) + " more";
  return text;
}

bool is_listed(const std::vector<std::string>& names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

std::vector<std::string> sorted_levels(std::vector<std::string> levels) {
  const bool numbers = std::ranges::all_of(levels, [](const std::string& level) {
    const auto value = number_of<double>(level);
    return value && std::isfinite(*value);
  });
  std::ranges::sort(levels);
  if (numbers)
    std::ranges::stable_sort(levels, {},
                             [](const std::string& l) { return *number_of<double>(l); });
  return levels;
}

}  // namespace gv
