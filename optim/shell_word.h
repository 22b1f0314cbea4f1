#pragma once

#include <string>

namespace gv {

/// The text as one word of a POSIX shell, in quotes where it needs them.
std::string shell_word(const std::string& text);

}  // namespace gv
