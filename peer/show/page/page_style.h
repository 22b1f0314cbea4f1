#pragma once

#include <string>
#include <string_view>

namespace gv {

/// The colours, light or dark as the reader's screen asks.
extern const std::string_view page_palette;
/// The look of the marks in figures. Colours of s0 .. s23 repeat after eight, with other dashes.
extern const std::string_view figure_style;
/// The look of what stands around figures; light on paper.
extern const std::string_view page_rules;

/// The look of a page: all three.
std::string page_style();

}  // namespace gv
