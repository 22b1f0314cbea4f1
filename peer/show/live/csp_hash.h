#pragma once

#include <string>
#include <string_view>

namespace gv {

/// 'sha256-...' of an inline script or style (CSP Level 3, section 2.3.1).
std::string csp_hash(std::string_view inline_text);

}  // namespace gv
