#pragma once

#include <string>
#include <string_view>

namespace gv {

/// A self-contained page around `body`: style inline, nothing is loaded, no script. The title is
/// escaped, the body is not.
std::string page_around(std::string_view title, std::string_view body);

}  // namespace gv
