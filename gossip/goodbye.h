#pragma once

#include <cstdint>

namespace gv {

/// The meaning of the `part` of a goodbye, bit by bit.
inline constexpr std::uint32_t leaves_early = 1;  ///< before its last round
/// The algorithm has ended, and the process stays for the last exchange: another goodbye follows.
inline constexpr std::uint32_t stays_for_half = 2;

}  // namespace gv
