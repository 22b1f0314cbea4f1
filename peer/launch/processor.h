#pragma once

#include <array>
#include <string_view>

namespace gv {

/// The kinds of processors for which there are builds of the program, as `uname -m` calls them.
inline constexpr std::array<std::string_view, 2> processors = {"x86_64", "aarch64"};

/// The one of this program.
#if defined(__x86_64__)
inline constexpr std::string_view own_processor = processors[0];
#elif defined(__aarch64__)
inline constexpr std::string_view own_processor = processors[1];
#else
inline constexpr std::string_view own_processor = "unknown";
#endif

}  // namespace gv
