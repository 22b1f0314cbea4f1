#include "gossip/link/carrier.h"

#include <cstddef>

namespace gv {

std::string printable(std::string_view text) {
  constexpr std::size_t most = 128;
  constexpr std::string_view digits = "0123456789abcdef";
  constexpr std::string_view dots = "...";
  std::string out;
  std::size_t uncut = 0;  // length of `out` that leaves room for the dots
  for (const char c : text) {
    const auto code = static_cast<unsigned char>(c);
    if (code >= 0x20 && code < 0x7f) {
      out += c;
    } else {
      out += {'\\', 'x', digits[code >> 4], digits[code & 15]};
    }
    if (out.size() > most) return out.substr(0, uncut).append(dots);
    if (out.size() <= most - dots.size()) uncut = out.size();
  }
  return out;
}

}  // namespace gv
