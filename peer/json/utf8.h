#pragma once

#include <cstddef>
#include <string_view>

namespace gv {

/// How many bytes the first character of `text`, which is not empty, has in UTF-8 (RFC 3629): 1 to
/// 4; 0 when its first byte begins none. Overlong forms, surrogates and what lies above U+10FFFF
/// are not UTF-8.
std::size_t utf8_length(std::string_view text);

}  // namespace gv
