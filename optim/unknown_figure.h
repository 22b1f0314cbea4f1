#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace gv {

// An unknown figure among doubles: a NaN whose payload distinguishes it from the NaN of a sum that
// diverged, like R's NA (arithmetic.c, R_NaReal). JSON writes both as null.

inline constexpr std::uint64_t unknown_figure_bits = 0x7FF8'0000'0000'07A2;

/// The unknown figure; arithmetic on it may lose its payload.
inline double unknown_figure() {
  return std::bit_cast<double>(unknown_figure_bits);
}

/// Returns whether this is the unknown figure, and not another NaN.
inline bool is_unknown(double figure) {
  return std::bit_cast<std::uint64_t>(figure) == unknown_figure_bits;
}

/// Returns whether this is the result of a sum that diverged.
inline bool has_diverged(double figure) {
  return !std::isfinite(figure) && !is_unknown(figure);
}

}  // namespace gv
