#pragma once

#include <charconv>
#include <stdexcept>
#include <string>
#include <string_view>

namespace gv {

/// The whole of `text` as a number; throws std::invalid_argument "what: `text` is not a number".
template <class Number>
Number parse_number(std::string_view text, const std::string& what) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size())
    throw std::invalid_argument(what + ": `" + std::string(text) + "` is not a number");
  return value;
}

/// The fewest digits that read back as the same number.
inline std::string shortest(double value) {
  char buffer[32];
  const auto [end, error] = std::to_chars(buffer, buffer + sizeof buffer, value);
  return {buffer, end};
}

}  // namespace gv
