#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace gv {

/// FIPS 180-4. For the hashes of a Content-Security-Policy, not for secrets.
std::array<std::uint8_t, 32> sha256(std::string_view text);

/// RFC 4648, section 4.
std::string base64(std::string_view bytes);

/// 'sha256-...' of an inline script or style (CSP Level 3, section 2.3.1).
std::string csp_hash(std::string_view inline_text);

}  // namespace gv
