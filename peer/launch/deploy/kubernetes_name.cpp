#include "peer/launch/deploy/kubernetes_name.h"

#include <algorithm>
#include <cstdint>
#include <string_view>

#include <fmt/format.h>
#include <xxhash.h>

namespace gv {
namespace {

bool is_small(char c) {
  return c >= 'a' && c <= 'z';
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_letter(char c) {
  return is_small(c) || (c >= 'A' && c <= 'Z');
}

}  // namespace

bool is_object_name(const std::string& name) {
  const auto fits = [](char c) { return is_small(c) || is_digit(c) || c == '-'; };
  return !name.empty() && name.size() <= longest_object_name && is_small(name.front()) &&
         name.back() != '-' && std::ranges::all_of(name, fits);
}

bool is_claim_name(const std::string& name) {
  constexpr std::size_t longest = 253;
  const auto ends = [](char c) { return is_small(c) || is_digit(c); };
  const auto fits = [&](char c) { return ends(c) || c == '-' || c == '.'; };
  return !name.empty() && name.size() <= longest && ends(name.front()) && ends(name.back()) &&
         std::ranges::all_of(name, fits) && name.find("..") == std::string::npos;
}

std::string object_name(const std::string& text) {
  std::string name;
  for (const char c : text) {
    const char small = is_letter(c) ? static_cast<char>(c | 0x20) : c;
    const bool fits = is_small(small) || is_digit(small);
    if (fits || (!name.empty() && name.back() != '-')) name += fits ? small : '-';
  }
  while (name.ends_with('-')) name.pop_back();
  std::string lower = text;
  for (char& c : lower)
    if (is_letter(c)) c = static_cast<char>(c | 0x20);
  if (name == lower && is_object_name(name)) return name;
  const auto hash = static_cast<std::uint32_t>(XXH3_64bits(text.data(), text.size()));
  if (name.empty() || !is_small(name.front())) name = name.empty() ? "fleet" : "fleet-" + name;
  constexpr std::size_t hash_bytes = 9;
  name.resize(std::min(name.size(), longest_object_name - hash_bytes));
  while (name.ends_with('-')) name.pop_back();
  return fmt::format("{}-{:08x}", name, hash);
}

bool is_quantity(const std::string& text) {
  const auto unit = std::ranges::find_if(text, is_letter);
  const std::string_view number(text.begin(), unit);
  const std::string_view suffix(unit, text.end());
  constexpr std::string_view suffixes[] = {"", "m", "k", "M", "G", "T", "Ki", "Mi", "Gi", "Ti"};
  const auto dots = std::ranges::count(number, '.');
  return !number.empty() && number.size() <= 15 && is_digit(number.front()) &&
         is_digit(number.back()) && dots <= 1 &&
         std::ranges::all_of(number, [](char c) { return is_digit(c) || c == '.'; }) &&
         std::ranges::count(suffixes, suffix) == 1;
}

bool is_image(const std::string& text) {
  const auto fits = [](char c) {
    return is_letter(c) || is_digit(c) || std::string_view("._-/:@").find(c) != std::string::npos;
  };
  constexpr std::size_t longest = 512;
  return !text.empty() && text.size() <= longest &&
         (is_letter(text.front()) || is_digit(text.front())) && std::ranges::all_of(text, fits);
}

}  // namespace gv
