#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "optim/codec_arithmetic.h"

namespace gv {

/// Calls at(index), ascending, for the k values that are largest by |x|; of equal ones the first
/// count. NaN and infinity are the largest.
template <class At>
void for_largest(std::span<const float> values, std::size_t k, At at) {
  if (k == 0) return;
  std::vector<std::uint32_t> largest(values.size());
  std::ranges::transform(values, largest.begin(), magnitude);
  const auto last = largest.begin() + static_cast<std::ptrdiff_t>(k - 1);
  std::nth_element(largest.begin(), last, largest.end(), std::greater<>());
  const std::uint32_t least = *last;
  const auto above =
      std::count_if(largest.begin(), last, [least](std::uint32_t a) { return a > least; });
  std::size_t ties = k - static_cast<std::size_t>(above);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::uint32_t a = magnitude(values[i]);
    if (a < least || (a == least && ties == 0)) continue;
    if (a == least) --ties;
    at(i);
  }
}

}  // namespace gv
