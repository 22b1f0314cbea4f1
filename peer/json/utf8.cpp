#include "peer/json/utf8.h"

#include <array>

namespace gv {
namespace {

/// A row of RFC 3629, section 4: which first bytes, how long, and the range of the second byte.
struct Form {
  unsigned char first_low, first_high;
  std::size_t length;
  unsigned char second_low, second_high;
};
constexpr std::array<Form, 9> forms{{{0x00, 0x7F, 1, 0, 0},
                                     {0xC2, 0xDF, 2, 0x80, 0xBF},
                                     {0xE0, 0xE0, 3, 0xA0, 0xBF},
                                     {0xE1, 0xEC, 3, 0x80, 0xBF},
                                     {0xED, 0xED, 3, 0x80, 0x9F},
                                     {0xEE, 0xEF, 3, 0x80, 0xBF},
                                     {0xF0, 0xF0, 4, 0x90, 0xBF},
                                     {0xF1, 0xF3, 4, 0x80, 0xBF},
                                     {0xF4, 0xF4, 4, 0x80, 0x8F}}};

bool within(char c, unsigned char low, unsigned char high) {
  const auto byte = static_cast<unsigned char>(c);
  return low <= byte && byte <= high;
}

std::size_t length_as(const Form& form, std::string_view text) {
  if (!within(text[0], form.first_low, form.first_high) || text.size() < form.length) return 0;
  if (form.length > 1 && !within(text[1], form.second_low, form.second_high)) return 0;
  for (std::size_t k = 2; k < form.length; ++k)
    if (!within(text[k], 0x80, 0xBF)) return 0;
  return form.length;
}

}  // namespace

std::size_t utf8_length(std::string_view text) {
  for (const Form& form : forms)
    if (const std::size_t length = length_as(form, text); length > 0) return length;
  return 0;
}

}  // namespace gv
