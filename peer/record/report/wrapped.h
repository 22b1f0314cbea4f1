#pragma once

#include <cstddef>
#include <string>

namespace gv {

/// Breaks a text at spaces into lines of at most 80 columns; those after the first are indented.
std::string wrapped(const std::string& text, std::size_t indent);

}  // namespace gv
