#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace gv {

// A figure that nobody could find out, among doubles: a NaN whose payload tells it from the NaN of
// a sum that diverged, as R tells its NA (arithmetic.c, R_NaReal). JSON writes both as null.

inline constexpr std::uint64_t unknown_figure_bits = 0x7FF8'0000'0000'07A2;

/// The figure itself; arithmetic on it may lose what it says.
inline double unknown_figure() {
  return std::bit_cast<double>(unknown_figure_bits);
}

/// Returns whether this is it, and not another NaN.
inline bool is_unknown(double figure) {
  return std::bit_cast<std::uint64_t>(figure) == unknown_figure_bits;
}

/// Returns whether this is what comes of a sum that diverged.
inline bool has_diverged(double figure) {
  return !std::isfinite(figure) && !is_unknown(figure);
}

}  // namespace gv
