#include "peer/record/moments.h"

#include <cmath>

namespace gv {

bool is_kept_whole(Round rounds) {
  constexpr Round in_a_row = 8;
  if (rounds < in_a_row) return true;
  for (double start = 64; start <= static_cast<double>(rounds); start *= 1.5)
    if (static_cast<double>(rounds) < std::ceil(start) + static_cast<double>(in_a_row) &&
        static_cast<double>(rounds) >= std::ceil(start))
      return true;
  return false;
}

}  // namespace gv
