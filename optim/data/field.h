#pragma once

#include <charconv>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>

#include "optim/printable.h"

namespace gv {

/// Returns a word of a file for a message: at most 40 bytes, with `?` for each unprintable byte.
inline std::string shown(std::string_view word) {
  constexpr std::size_t most = 40;
  std::string text = printable(word, most);
  for (char& c : text)
    if (c == '\n') c = '?';
  return "`" + text + "`";
}

/// The bytes that some programs write before a UTF-8 text; they are not part of the text.
inline constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

/// Opens a file to read its bytes. The stream fails for all but regular files: opening a pipe that
/// no program writes to would block.
std::ifstream open_regular(const std::string& path);

/// The whole word as a number; a plus sign may precede it.
template <class Number>
std::optional<Number> number_of(std::string_view word) {
  if (word.starts_with('+')) word.remove_prefix(1);
  Number value{};
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc{} || end != word.data() + word.size()) return std::nullopt;
  return value;
}

/// Returns the canonical form of a number, without exponent, plus sign and needless zeros: `+1.0`
/// is `1`, `1e5` is `100000`. No digit is lost: a number of 19 digits keeps all. Returns other
/// words unchanged; so also numbers with leading zeros, which are names: `01234`.
std::string plain_number(std::string_view word);

}  // namespace gv
