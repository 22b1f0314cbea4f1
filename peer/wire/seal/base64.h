#pragma once

#include <string>
#include <string_view>

namespace gv {

/// RFC 4648, section 4. Throws std::length_error of more than a gigabyte.
std::string base64(std::string_view bytes);

}  // namespace gv
