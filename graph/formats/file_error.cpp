#include "graph/formats/file_error.h"

namespace gv {

void refuse_file(const std::string& where, const std::string& what) {
  throw GraphFileError(where + what);
}

std::string excerpt(std::string_view text) {
  constexpr std::size_t most = 60;
  constexpr std::string_view digits = "0123456789abcdef";
  std::string out;
  for (const char c : text) {
    const bool printable = c >= 0x20 && c < 0x7F;
    if (out.size() + (printable ? 1 : 4) > most) return out + "...";
    if (printable) {
      out += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    out += {'\\', 'x', digits[byte >> 4], digits[byte & 15]};
  }
  return out;
}

}  // namespace gv
