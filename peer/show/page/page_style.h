#pragma once

#include <string>
#include <string_view>

namespace gv {

/// The colours, light or dark by the reader's settings.
extern const std::string_view page_palette;
/// The style of marks in figures. Colours of s0 .. s23 repeat after eight, with other dashes.
extern const std::string_view figure_style;
/// The style around figures; light on paper.
extern const std::string_view page_rules;

/// The style of a page: all three parts.
std::string page_style();

}  // namespace gv
