#pragma once

#include <string>
#include <string_view>

namespace gv {

/// Encodes bytes by RFC 4648, section 4. Throws std::length_error above a gigabyte.
std::string base64(std::string_view bytes);

}  // namespace gv
