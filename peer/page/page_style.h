#pragma once

#include <string_view>

namespace gv {

/// The look of a page: light or dark as the reader's screen asks, light on paper. Colours of s0 ..
/// s23 repeat after eight, with other dashes.
extern const std::string_view page_style;

}  // namespace gv
