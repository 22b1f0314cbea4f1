#pragma once

#include <charconv>
#include <optional>
#include <string>
#include <string_view>

namespace gv {

/// A word of a file in a message: `word`, at most 40 characters of it, and `?` for whatever could
/// move the cursor.
inline std::string shown(std::string_view word) {
  constexpr std::size_t most = 40;
  std::string text = "`";
  for (const char c : word.substr(0, most)) {
    const auto byte = static_cast<unsigned char>(c);
    text += byte >= 0x20 && byte < 0x7F ? c : '?';
  }
  return text + (word.size() > most ? "...`" : "`");
}

/// The whole word as a number; a plus sign may stand before it.
template <class Number>
std::optional<Number> number_of(std::string_view word) {
  if (word.starts_with('+')) word.remove_prefix(1);
  Number value{};
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc{} || end != word.data() + word.size()) return std::nullopt;
  return value;
}

}  // namespace gv
