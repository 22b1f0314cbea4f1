#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "peer/show/page/page_figures.h"
#include "peer/show/page/svg.h"

namespace gv::svg {

/// A name in a picture: its anchor, and the place of its text.
struct Label {
  Point anchor;
  std::string text;
  std::size_t owner = 0;  ///< caller's index of the named thing
  Point at{};             ///< set by place_labels
};

/// Returns the width of a text at the size for narrow screens, rounded up since fonts differ.
double text_width(const std::string& text);

/// Most characters of the name of a row in a figure.
constexpr std::size_t longest_row_name = 22;
/// Returns where rows begin: at `least`, or as far right as the longest of their names needs.
template <class Rows>
double room_for_names(const Rows& rows, double least) {
  for (const auto& row : rows)
    least = std::max(least, text_width(squeezed(row.name, longest_row_name)) + 10);
  return least;
}
/// Draws the name of a row that begins at this place.
std::string row_name(Point at, const std::string& name);

/// Returns the width of a name with its coloured square.
double label_width(const std::string& text);

/// Puts each name to the right of its anchor, inside the picture of this width between `top` and
/// `bottom`. A name moves up or down as little as needed to avoid the names before it and, if
/// possible, the obstacles. Names that do not fit are left out.
std::vector<Label> place_labels(std::vector<Label> labels,
                                const std::vector<Point>& obstacles,
                                double width,
                                double top,
                                double bottom);

/// Cuts each name to the first words that distinguish it from the others.
std::vector<std::string> telling_names(const std::vector<std::string>& names);

/// Draws the square and the text, with a thin line to the anchor if the name was moved away.
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
/// Seconds as such a text.
std::string duration_text(double seconds);

}  // namespace gv
