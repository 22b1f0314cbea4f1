#include "optim/columns.h"

#include <algorithm>

namespace gv {

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

}  // namespace gv
