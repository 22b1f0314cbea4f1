#include "optim/printable.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <utility>

namespace gv {
namespace {

/// A row of the table in RFC 3629, section 4, without the control characters: range of first bytes,
/// number of bytes, range of the second byte. Further bytes are 0x80 to 0xBF.
struct Form {
  unsigned char first_low, first_high;
  std::size_t length;
  unsigned char second_low = 0x80, second_high = 0xBF;
};
constexpr Form forms[] = {
    {0x20, 0x7E, 1}, {0xC2, 0xC2, 2, 0xA0, 0xBF},  // U+0080 to U+009F are controls
    {0xC3, 0xDF, 2}, {0xE0, 0xE0, 3, 0xA0, 0xBF}, {0xE1, 0xEC, 3}, {0xED, 0xED, 3, 0x80, 0x9F},
    {0xEE, 0xEF, 3}, {0xF0, 0xF0, 4, 0x90, 0xBF}, {0xF1, 0xF3, 4}, {0xF4, 0xF4, 4, 0x80, 0x8F}};

/// Invisible characters that change the display: spaces without width, marks, embeddings, overrides
/// and isolates of direction, ends of lines and paragraphs, the byte order mark. They make a text
/// look like another one: Boucher & Anderson, "Trojan Source", arXiv:2111.00169. The two joiners in
/// between (U+200C, U+200D) are allowed: Persian, Hindi and emoji need them.
constexpr std::pair<char32_t, char32_t> unseen[] = {{0x061C, 0x061C}, {0x200B, 0x200B},
                                                    {0x200E, 0x200F}, {0x2028, 0x202E},
                                                    {0x2060, 0x206F}, {0xFEFF, 0xFEFF}};

/// Returns the code point of a character of at most three bytes.
char32_t code_point(std::string_view character) {
  char32_t code = static_cast<unsigned char>(character[0]);
  if (character.size() > 1) code &= character.size() == 2 ? 0x1F : 0x0F;
  for (const char c : character.substr(1))
    code = code << 6 | (static_cast<unsigned char>(c) & 0x3F);
  return code;
}

/// Looks up a character of two or three bytes; those of four bytes are all visible.
bool is_unseen(std::string_view character) {
  if (character.size() < 2 || character.size() > 3) return false;
  const char32_t code = code_point(character);
  return std::ranges::any_of(
      unseen, [code](const auto& range) { return range.first <= code && code <= range.second; });
}

bool within(char c, unsigned char low, unsigned char high) {
  const auto byte = static_cast<unsigned char>(c);
  return low <= byte && byte <= high;
}

/// Bytes of the first character; 0 if it is a control character or no UTF-8. The text is not empty.
std::size_t visible_length(std::string_view text) {
  const auto form = std::ranges::find_if(
      forms, [&](const Form& f) { return within(text[0], f.first_low, f.first_high); });
  if (form == std::end(forms) || text.size() < form->length) return 0;
  if (form->length > 1 && !within(text[1], form->second_low, form->second_high)) return 0;
  for (std::size_t k = 2; k < form->length; ++k)
    if (!within(text[k], 0x80, 0xBF)) return 0;
  return form->length;
}

/// Bytes of the first character; 0 when it is not printable. The text is not empty.
std::size_t printable_length(std::string_view text) {
  const std::size_t length = visible_length(text);
  return is_unseen(text.substr(0, length)) ? 0 : length;
}

/// Bytes of the first character, printable or not; 0 if it is no UTF-8. The text is not empty.
std::size_t character_length(std::string_view text) {
  if (within(text[0], 0, 0x1F) || text[0] == 0x7F) return 1;
  if (text[0] == '\xC2' && text.size() > 1 && within(text[1], 0x80, 0x9F)) return 2;
  return visible_length(text);
}

}  // namespace

bool is_printable(std::string_view text) {
  while (!text.empty()) {
    const std::size_t length = printable_length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

std::string printable(std::string_view text, std::size_t most) {
  std::string out;
  while (!text.empty()) {
    const std::size_t length = printable_length(text);
    const std::size_t taken = std::max<std::size_t>(length, 1);
    if (out.size() + taken > most) return out + "...";
    if (length > 0 || text[0] == '\n') {
      out += text.substr(0, taken);
    } else {
      out += '?';
    }
    text.remove_prefix(taken);
  }
  return out;
}

std::string shell_word(const std::string& text) {
  const auto plain = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
           (c != '\0' && std::strchr("_./=-+,:@%", c) != nullptr);
  };
  if (!text.empty() && std::ranges::all_of(text, plain)) return text;
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

std::string shell_path(const std::string& path) {
  return shell_word(path.starts_with('-') ? "./" + path : path);
}

std::string why_unprintable(std::string_view text) {
  for (std::size_t length = 0; !text.empty(); text.remove_prefix(length)) {
    length = character_length(text);
    if (length == 0) return "is no UTF-8 text; save the file as UTF-8";
    if (printable_length(text) > 0) continue;
    std::array<char, 16> code{};
    std::snprintf(code.data(), code.size(), "U+%04X",
                  static_cast<unsigned>(code_point(text.substr(0, length))));
    return std::string("has an invisible character, ") + code.data() + "; remove it";
  }
  return "";
}

std::size_t columns_of(std::string_view text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return (c & 0xC0) != 0x80; }));
}

std::string cut_to_columns(std::string_view text, std::size_t columns) {
  std::size_t seen = 0;
  for (std::size_t k = 0; k < text.size(); ++k)
    if ((text[k] & 0xC0) != 0x80 && seen++ == columns) return std::string(text.substr(0, k));
  return std::string(text);
}

std::string counted(std::size_t number, const std::string& one, const std::string& many) {
  return std::to_string(number) + " " + (number == 1 ? one : many.empty() ? one + "s" : many);
}

}  // namespace gv
