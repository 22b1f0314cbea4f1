#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "peer/show/page/figures.h"
#include "peer/show/page/svg.h"

namespace gv::svg {

/// A name beside what it names: its anchor on the picture, and where its text begins.
struct Label {
  Point anchor;
  std::string text;
  std::size_t owner = 0;  ///< which of the caller's things it names
  Point at{};             ///< set by place_labels
};

/// Returns how wide a text is at the size for narrow screens; fonts differ, so rather too much.
double text_width(const std::string& text);

/// Does the same for a name with the square in its colour before it.
double label_width(const std::string& text);

/// Puts each name to the right of its anchor, moved up or down as little as keeps it off the names
/// before it, and off the obstacles as far as that goes, inside the picture of this width between
/// `top` and `bottom`. What finds no room is left out.
std::vector<Label> place_labels(std::vector<Label> labels,
                                const std::vector<Point>& obstacles,
                                double width,
                                double top,
                                double bottom);

/// Cuts each name to what must be said to tell it from the others: its first words.
std::vector<std::string> telling_names(const std::vector<std::string>& names);

/// The square and the text, with a thin line to the anchor where one had to move away.
std::string draw(const Label& label);

}  // namespace gv::svg

namespace gv {

/// A unit in which the largest value of an axis is a number of at most four digits.
struct Unit {
  double size = 1;   ///< in seconds, bytes or ones
  std::string name;  ///< "ms", "MB"; empty for ones
};

Unit unit_for(Quantity what, double largest);

/// "1.25 s", "3.4 MB", "935".
std::string quantity_text(Quantity what, double value);

}  // namespace gv
