#include "optim/data/field.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <system_error>

namespace gv {
namespace {

bool is_digit(char c) {
  return '0' <= c && c <= '9';
}

/// A number's digits without zeros at either end; its value is 0.DIGITS x 10^exponent.
struct Decimal {
  bool negative = false;
  std::string digits{};
  int exponent = 0;

  std::string text() const {
    constexpr int most = 40;
    if (digits.empty()) return "0";
    const auto count = static_cast<int>(digits.size());
    std::string plain = negative ? "-" : "";
    if (exponent > most || exponent < -most)
      return plain + "0." + digits + "e" + std::to_string(exponent);
    if (exponent >= count)
      return plain + digits + std::string(static_cast<std::size_t>(exponent - count), '0');
    if (exponent <= 0)
      return plain + "0." + std::string(static_cast<std::size_t>(-exponent), '0') + digits;
    const auto point = static_cast<std::size_t>(exponent);
    return plain + digits.substr(0, point) + "." + digits.substr(point);
  }
};

/// Returns nothing for words that are not decimal numbers, and for leading zeros.
std::optional<Decimal> decimal_of(std::string_view word) {
  if (word.starts_with('+')) word.remove_prefix(1);
  Decimal found{.negative = word.starts_with('-')};
  if (found.negative) word.remove_prefix(1);
  const std::string_view number = word.substr(0, word.find_first_of("eE"));
  const std::string_view whole = number.substr(0, number.find('.'));
  const std::string_view part = number.substr(std::min(whole.size() + 1, number.size()));
  if (whole.size() > 1 && whole.starts_with('0')) return std::nullopt;
  if (whole.empty() && part.empty()) return std::nullopt;
  if (!std::ranges::all_of(whole, is_digit) || !std::ranges::all_of(part, is_digit))
    return std::nullopt;
  if (number.size() < word.size()) {
    const auto power = number_of<std::int16_t>(word.substr(number.size() + 1));
    if (!power) return std::nullopt;
    found.exponent = *power;
  }
  found.exponent += static_cast<int>(whole.size());
  found.digits.append(whole).append(part);
  const std::size_t first = std::min(found.digits.find_first_not_of('0'), found.digits.size());
  found.digits.erase(0, first);
  found.exponent -= static_cast<int>(first);
  found.digits.erase(found.digits.find_last_not_of('0') + 1);
  return found;
}

}  // namespace

std::ifstream open_regular(const std::string& path) {
  std::ifstream in;
  std::error_code error;
  if (std::filesystem::is_regular_file(path, error)) {
    in.open(path, std::ios::binary);
  } else {
    in.setstate(std::ios::failbit);
  }
  return in;
}

std::string plain_number(std::string_view word) {
  const std::optional<Decimal> number = decimal_of(word);
  return number ? number->text() : std::string(word);
}

}  // namespace gv
