#include "peer/record/life/moments.h"

#include <cmath>

namespace gv {

bool is_kept_whole(Round rounds) {
  constexpr Round in_a_row = 8;
  if (rounds < in_a_row) return true;
  double start = 64;
  while (std::ceil(start) <= static_cast<double>(rounds)) {
    if (static_cast<double>(rounds) < std::ceil(start) + static_cast<double>(in_a_row)) return true;
    start *= 1.5;
  }
  return false;
}

}  // namespace gv
