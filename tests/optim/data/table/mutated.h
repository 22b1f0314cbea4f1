#pragma once

#include <cstdint>
#include <string>

#include "optim/rng.h"

namespace gv {

/// Returns a file with one to four changes: bytes replaced, removed, doubled, or cut off.
inline std::string mutated(std::string file, Rng& rng) {
  const std::uint64_t changes = 1 + rng.below(4);
  for (std::uint64_t k = 0; k < changes && !file.empty(); ++k) {
    const std::size_t at = rng.below(file.size());
    constexpr std::string_view words[] = {
        "\"", ",",   "\n", "\xFF\xFF\xFF\xFF",        "-1", "1e999",
        ":",  "nan", "\r", std::string_view("\0", 1), "#",  "99999999"};
    switch (rng.below(6)) {
      case 0:
        file[at] = static_cast<char>(rng.below(256));
        break;
      case 1:
        file[at] = static_cast<char>(file[at] ^ 1 << rng.below(8));
        break;
      case 2:
        file.erase(at, 1 + rng.below(16));
        break;
      case 3:
        file.insert(at, file.substr(rng.below(file.size()), 1 + rng.below(40)));
        break;
      case 4:
        file.insert(at, words[rng.below(std::size(words))]);
        break;
      default:
        if (rng.below(4) == 0) file.resize(at);
        break;
    }
  }
  return file;
}

}  // namespace gv
