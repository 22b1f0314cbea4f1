#include "optim/data/field.h"

#include <cstdint>

namespace gv {
namespace {

/// Bytes of the character that begins with this one; 0: none does.
std::size_t length_of(unsigned char first) {
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first < 0xE0) return 2;
  if (first >= 0xE0 && first < 0xF0) return 3;
  return first >= 0xF0 && first < 0xF5 ? 4 : 0;
}

/// Not written in more bytes than it needs, no half of a pair, no control.
bool is_sound(std::uint32_t character, std::size_t length) {
  constexpr std::uint32_t least[] = {0, 0x20, 0x80, 0x800, 0x10000};
  if (character < least[length] || character > 0x10FFFF) return false;
  if (character >= 0xD800 && character < 0xE000) return false;
  return character < 0x7F || character >= 0xA0;
}

}  // namespace

bool is_name(std::string_view text) {
  while (!text.empty()) {
    const auto first = static_cast<unsigned char>(text.front());
    const std::size_t length = length_of(first);
    if (length == 0 || length > text.size()) return false;
    std::uint32_t character = length == 1 ? first : first & (0xFFU >> (length + 1));
    for (std::size_t k = 1; k < length; ++k) {
      const auto next = static_cast<unsigned char>(text[k]);
      if ((next & 0xC0) != 0x80) return false;
      character = character << 6 | (next & 0x3F);
    }
    if (!is_sound(character, length)) return false;
    text.remove_prefix(length);
  }
  return true;
}

}  // namespace gv
