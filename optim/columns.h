#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace gv {

/// Returns the characters of a UTF-8 text, each of which takes a column of a terminal.
std::size_t columns_of(std::string_view text);
/// Returns as many characters from the front as fit.
std::string cut_to_columns(std::string_view text, std::size_t columns);

}  // namespace gv
