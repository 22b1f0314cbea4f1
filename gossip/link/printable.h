#pragma once

#include <string>
#include <string_view>

namespace gv {

/// Text that came from another machine, fit for a terminal and a log: printable ASCII, everything
/// else as \xNN, and at most 128 bytes of it, the last three of them dots where it was cut.
std::string printable(std::string_view text);

}  // namespace gv
