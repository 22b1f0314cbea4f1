#pragma once

#include <cstdint>

namespace gv {

/// Returns whether the n-th event of its kind is worth a line in a log: 1, 10, 100, ...
inline bool is_milestone(std::uint64_t n) {
  while (n >= 10 && n % 10 == 0) n /= 10;
  return n == 1;
}

}  // namespace gv
